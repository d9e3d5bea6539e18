import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Received {
  method: string;
  target: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** An HTTP server that records requests and sends the given responses in order; the last one repeats. */
export async function farEnd(...replies: (Reply | ((request: IncomingMessage, response: ServerResponse) => void))[]) {
  const received: Received[] = [];
  let turn = 0;
  const server = createServer(async (request, response) => {
    const reply = replies[Math.min(turn, replies.length - 1)] ?? {};
    turn += 1;
    if (typeof reply === "function") return reply(request, response);
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    received.push({ method: request.method ?? "", target: request.url ?? "", headers: request.headers, body });
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const build = {
  id: "bld_1",
  title: null,
  description: null,
  commit: null,
  version: null,
  runtime: null,
  size: null,
  status: "pending",
  error: null,
  suggestion: null,
  createdAt: "2026-11-20T01:02:03.456Z",
  updatedAt: "2026-11-20T01:02:03.456Z",
};

export const polled = (status: string, more: object = {}) => ({
  build: { ...build, status, warning: null, canceledAt: null, isLive: false, findings: [], detected: null, ...more },
});
