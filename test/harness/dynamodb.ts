import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { countedHeader } from "./counted-calls.ts";

/** A simulated fault of a call: an error answer, or a lost answer after the call was executed. */
export type Fault = { kind: "error"; name: string; status?: number } | { kind: "lost-answer" };

export interface DynamoProxy {
  endpoint: string;
  /** The calls since the last `clear`, in order of arrival, with their start and end times. */
  calls: { operation: string; began: number; ended: number; countedFor: string | undefined }[];
  clear(): void;
  /** Called for every call; returns its fault, or `undefined` for none. */
  fault: ((operation: string, index: number) => Fault | undefined) | undefined;
  /** The minimum time of every call, which makes concurrent calls overlap visibly. */
  delayMs: number;
  close(): Promise<void>;
}

/** Starts a proxy between the service and its DynamoDB that counts calls and simulates faults. */
export async function startDynamoProxy(target: string): Promise<DynamoProxy> {
  const to = new URL(target);
  const proxy: DynamoProxy = {
    endpoint: "",
    calls: [],
    clear: () => void proxy.calls.splice(0),
    fault: undefined,
    delayMs: 0,
    close: async () => undefined,
  };
  const server = createServer((request, response) => {
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const countedFor = request.headers[countedHeader]?.toString();
    const call = { operation, began: performance.now(), ended: Number.POSITIVE_INFINITY, countedFor };
    const index = proxy.calls.push(call) - 1;
    const fault = proxy.fault?.(operation, index);
    if (fault?.kind === "error") {
      request.resume();
      response.writeHead(fault.status ?? 400, { "content-type": "application/x-amz-json-1.0" });
      response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${fault.name}`, message: "injected" }));
      return;
    }
    const sent = httpRequest(
      { host: to.hostname, port: to.port, path: request.url, method: request.method, headers: request.headers },
      (answer) => {
        call.ended = performance.now();
        if (fault?.kind === "lost-answer") {
          answer.resume();
          answer.on("end", () => request.socket.destroy());
          return;
        }
        setTimeout(() => {
          call.ended = performance.now();
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }, proxy.delayMs);
      },
    );
    sent.on("error", () => request.socket.destroy());
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return proxy;
}
