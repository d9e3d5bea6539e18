import { createServer } from "node:net";

/**
 * The ports of tasks. The range is below those from which operating systems choose outgoing ports, so that no outgoing
 * connection can use one of them. local/ports.ts has the ports of the addresses that stay the same.
 */
const first = 25_000;
const last = 30_000;

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error && error.code === "EAFNOSUPPORT"));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const recent: number[] = [];

/** A port that is free on every address and is not one of the last 200 that were returned. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1000; tries++) {
    const port = first + Math.floor(Math.random() * (last - first));
    if (recent.includes(port)) continue;
    recent.push(port);
    if (recent.length > 200) recent.shift();
    if ((await canListen(port, "0.0.0.0")) && (await canListen(port, "127.0.0.1"))) return port;
  }
  throw new Error("no free port on this machine");
}
