import { request as openRequest } from "node:http";
import * as z from "zod";
import { type CallFault, type Faults, runWithFault } from "../aws/call-faults.ts";
import { type AwsServer, type IncomingCall, startHttpServer } from "../aws/http-server.ts";
import { AwsError, jsonError, type RawResponse } from "../aws/service.ts";

const bodyBytesMax = 32 * 1024 * 1024;

const transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** A canceled transaction: every action has the same reason. */
function canceled(body: Buffer, code: "ThrottlingError" | "TransactionConflict"): AwsError {
  const { TransactItems: items } = transaction.parse(JSON.parse(body.toString("utf8")));
  const reasons = items.map(() => ({ Code: code, Message: "Transaction is ongoing for the item or it is throttled" }));
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${items.map(() => code).join(", ")}]`;
  return new AwsError("TransactionCanceledException", message, 400, { Message: message, CancellationReasons: reasons });
}

/** The error of DynamoDB for a fault. */
function faultError(fault: CallFault, operation: string, body: Buffer): AwsError {
  switch (fault.kind) {
    case "failed":
      return new AwsError("InternalServerError", "Internal server error", 500);
    case "refused":
      return new AwsError(fault.code, "The call was refused.");
    case "conflict":
      if (operation === "TransactWriteItems") return canceled(body, "TransactionConflict");
      if (/^(Put|Update|Delete)Item$/.test(operation))
        return new AwsError("TransactionConflictException", "Transaction is ongoing for the item");
      return new AwsError("ThrottlingException", "Rate of requests exceeds the allowed throughput.");
    default:
      if (operation === "TransactWriteItems") return canceled(body, "ThrottlingError");
      return new AwsError(
        "ProvisionedThroughputExceededException",
        "The level of configured provisioned throughput for the table was exceeded.",
      );
  }
}

function forward(to: URL, { method, headers }: IncomingCall, body: Buffer): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = openRequest({ host: to.hostname, port: to.port, path: "/", method, headers }, async (answer) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk);
        const answered = Object.fromEntries(
          Object.entries(answer.headers).filter(([name]) => /^(content-type|x-amz)/.test(name)),
        ) as Record<string, string>;
        resolve({ status: answer.statusCode ?? 500, headers: answered, body: Buffer.concat(chunks) });
      } catch (error) {
        reject(error);
      }
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Starts a proxy before DynamoDB that adds faults to calls; it verifies no signatures. */
export function startFaultyDynamoDb(target: string, faults: Faults): Promise<AwsServer> {
  const to = new URL(target);
  return startHttpServer({
    bodyBytesMax,
    errorAnswer: jsonError,
    async handle(call) {
      const body = await call.readBody();
      const operation = String(call.headers["x-amz-target"]).split(".")[1] ?? "";
      const fault = faults({ service: "DynamoDB", operation, input: body.toString("utf8") });
      return runWithFault(
        fault,
        () => forward(to, call, body),
        (one) => faultError(one, operation, body),
      );
    },
  });
}
