// Preloaded into the Node.js processes of a task. A container has its own network namespace, so an app may listen on
// the container's port and ignore PORT. Tasks share this machine's ports, so this module changes that port to the task's own.
const [from, to] = (process.env.SLIPWAY_PORT_MAP ?? "").split(":").map(Number);

if (from > 0 && to > 0) {
  const { Server } = require("node:net");
  const { listen } = Server.prototype;
  const isMapped = (port) => (typeof port === "number" || typeof port === "string") && Number(port) === from;

  Server.prototype.listen = function (...args) {
    const [first] = args;
    if (isMapped(first)) args[0] = to;
    else if (typeof first === "object" && first !== null && isMapped(first.port)) args[0] = { ...first, port: to };
    return listen.apply(this, args);
  };
}
