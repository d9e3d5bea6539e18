import { createServer } from "node:net";

/** Below the ranges that operating systems take outgoing ports from, so that no connection of ours can be in the way. */
/** The range of tasks; local/ports.ts has those of the addresses that are kept. */
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

/** A port that is free on every address and was not given to another task a moment ago. */
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
