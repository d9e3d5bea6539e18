import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";

/** One call of the service to its DynamoDB. */
export interface TableCall {
  operation: string;
  /** Place in the order of arrival since the last `clear`. */
  index: number;
  /** The request's JSON, for a test that means one call in particular. */
  body: string;
}

/** The fault for a call instead of forwarding it; `lose` forwards it and breaks the connection before the response. */
export type Fault =
  | { kind: "refuse"; name: string; status: number }
  /** TransactionCanceledException, every item of which was in another transaction. */
  | { kind: "conflict" }
  /** As `conflict`, but this item's condition has also failed, with this existing row. */
  | { kind: "half-conflict"; failed: number; row: object }
  /** A BatchGetItem that returns every key as unprocessed. */
  | { kind: "unprocessed" }
  | { kind: "lose" };

export interface TableGate {
  endpoint: string;
  calls: TableCall[];
  clear(): void;
  /** Called and awaited for every call, so that a test can delay it. */
  before: ((call: TableCall) => Promise<Fault | undefined> | Fault | undefined) | undefined;
  /** Runs after DynamoDB has responded and before the service receives the response. */
  after: ((call: TableCall) => Promise<void> | void) | undefined;
  /** Runs after the response has been sent to the service. */
  answered: ((call: TableCall) => void) | undefined;
  close(): Promise<void>;
}

const transaction = z.object({ TransactItems: z.array(z.unknown()) });
const batch = z.object({ RequestItems: z.record(z.string(), z.unknown()) });

function refusal(call: TableCall, fault: Exclude<Fault, { kind: "lose" }>): { status: number; body: object } {
  switch (fault.kind) {
    case "refuse":
      return {
        status: fault.status,
        body: { __type: `com.amazonaws.dynamodb.v20120810#${fault.name}`, message: "injected" },
      };
    case "conflict":
    case "half-conflict": {
      const reasons: object[] = transaction
        .parse(JSON.parse(call.body))
        .TransactItems.map(() => ({ Code: "TransactionConflict", Message: "injected" }));
      if (fault.kind === "half-conflict") reasons[fault.failed] = { Code: "ConditionalCheckFailed", Item: fault.row };
      const __type = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
      return { status: 400, body: { __type, Message: "Transaction cancelled", CancellationReasons: reasons } };
    }
    case "unprocessed":
      return { status: 200, body: { Responses: {}, UnprocessedKeys: batch.parse(JSON.parse(call.body)).RequestItems } };
  }
}

async function textOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A proxy between the service and its DynamoDB: delays, refuses, loses and counts single calls. */
export async function openTableGate(target: string): Promise<TableGate> {
  const to = new URL(target);
  const gate: TableGate = {
    endpoint: "",
    calls: [],
    clear: () => void gate.calls.splice(0),
    before: undefined,
    after: undefined,
    answered: undefined,
    close: async () => undefined,
  };

  function forward(
    request: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }> {
    return new Promise((resolve, reject) => {
      const options = {
        host: to.hostname,
        port: to.port,
        path: request.url,
        method: request.method,
        headers: request.headers,
      };
      const sent = httpRequest(options, (answer) => {
        textOf(answer).then(
          (text) => resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: text }),
          reject,
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  const server = createServer(async (request, response) => {
    try {
      const body = await textOf(request);
      const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
      const call = { operation, index: gate.calls.length, body: body.toString("utf8") };
      gate.calls.push(call);
      const fault = await gate.before?.(call);
      if (fault && fault.kind !== "lose") {
        const { status, body: refused } = refusal(call, fault);
        response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
        response.end(JSON.stringify(refused));
        return;
      }
      const answer = await forward(request, body);
      await gate.after?.(call);
      if (fault?.kind === "lose") {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body, () => gate.answered?.(call));
    } catch {
      request.socket.destroy();
    }
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
