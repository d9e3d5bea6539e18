import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Gate {
  endpoint: string;
  /** Awaited between S3's answer to a request and its delivery. */
  after: ((method: string) => Promise<void> | undefined) | undefined;
  close(): Promise<void>;
}

/** Stands between the service and its S3, so that a test can let something happen right after a call has taken effect. */
export async function startS3Gate(target: string): Promise<S3Gate> {
  const { hostname, port } = new URL(target);
  const gate: S3Gate = { endpoint: "", after: undefined, close: async () => undefined };
  const server = createServer((request, response) => {
    const { method = "GET", url: path, headers } = request;
    const sent = httpRequest({ host: hostname, port, path, method, headers }, async (answer) => {
      await gate.after?.(method);
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => request.socket.destroy());
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  gate.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gate.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return gate;
}
