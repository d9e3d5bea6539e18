import type { Readable } from "node:stream";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { StandardRetryStrategy } from "@smithy/core/retry";
import { clientDefaults } from "../aws/clients.ts";

export type TableConnection = DynamoDBDocumentClient;

/** Random pauses of 25, 50 and 100 ms at most. The SDK's own, up to 7 seconds after throttling, are for batch jobs. */
const backoff = {
  setDelayBase: () => undefined,
  computeNextBackoffDelay: (attempt: number) => 25 * 2 ** attempt * Math.random(),
};

/**
 * Reads an answer's body. The SDK's own way first looks whether it is a stream of browsers, and writes to another stream;
 * Node.js loads both, and the standard streams, when they are first named, which takes 3 ms of a cold start.
 */
const streamCollector = (body: Readable) =>
  new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    body.on("data", (chunk) => chunks.push(chunk));
    body.on("error", reject);
    body.on("end", () => resolve(Buffer.concat(chunks)));
  });

/**
 * The SDK's document client with bounds that fit into an API request: a call is made up to four times, and given up
 * when nothing of its answer comes for `silenceMs`.
 */
export function documentClient(silenceMs = 3_000): DynamoDBDocumentClient {
  const defaults = clientDefaults({ requestTimeout: silenceMs, socketTimeout: silenceMs });
  const retryStrategy = new StandardRetryStrategy({ maxAttempts: defaults.maxAttempts, backoff });
  const client = new DynamoDBClient({ ...defaults, retryStrategy, streamCollector });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** DynamoDB's answer could not be read, so whether a write happened is unknown; the caller may repeat the request. */
class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
  readonly $fault = "server";
}

/** JSON.parse errors quote row contents and would reach the log, so they are replaced. */
export function rethrowWithoutQuotes(error: unknown): never {
  throw error instanceof SyntaxError ? new UnreadableAnswer("DynamoDB's answer could not be read") : error;
}
