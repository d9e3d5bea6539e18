import { randomUUID } from "node:crypto";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  BatchGetItemInput,
  BatchGetItemOutput,
  CancellationReason,
  QueryInput,
  QueryOutput,
  TransactWriteItemsInput,
  TransactWriteItemsOutput,
  UpdateItemInput,
  UpdateItemOutput,
} from "@aws-sdk/client-dynamodb";
import * as z from "zod";
import { refusalOf } from "../aws/refusal.ts";
import { ownRegion, signedPost } from "../aws/signature.ts";
import { isTransient } from "../aws/transient.ts";

/** The calls of DynamoDB that are made, with what they take and give. Binary attributes are not among it. */
interface Calls {
  BatchGetItem: [BatchGetItemInput, BatchGetItemOutput];
  Query: [QueryInput, QueryOutput];
  TransactWriteItems: [TransactWriteItemsInput, TransactWriteItemsOutput];
  UpdateItem: [UpdateItemInput, UpdateItemOutput];
}

/** DynamoDB said no; the error's name is the exception's, as DynamoDB documents it. */
export class DynamoDbError extends Error {
  readonly $fault: "client" | "server";
  /** Of a cancelled transaction: what became of each write, in their order. */
  readonly reasons: CancellationReason[];
  constructor(name: string, message: string, status: number, reasons: CancellationReason[]) {
    super(message);
    this.name = name;
    this.$fault = status >= 500 ? "server" : "client";
    this.reasons = reasons;
  }
}

const details = z.object({
  message: z.string().optional(),
  Message: z.string().optional(),
  CancellationReasons: z.array(z.custom<CancellationReason>((reason) => typeof reason === "object")).default([]),
});

function refused(call: string, status: number, body: string): DynamoDbError {
  const refusal = refusalOf(body);
  const said = details.safeParse(refusal?.fields).data;
  if (!refusal || !said) {
    return new DynamoDbError("UnknownError", `DynamoDB answered ${call} with status ${status}`, status, []);
  }
  const message = said.message ?? said.Message ?? `DynamoDB refused ${call}`;
  return new DynamoDbError(refusal.name, message, status, said.CancellationReasons);
}

/** A broken answer is a fault of the server's; what `JSON.parse` would say of it quotes the rows. */
function outputOf(call: string, body: string) {
  try {
    return JSON.parse(body);
  } catch {
    throw new DynamoDbError("UnknownError", `DynamoDB's answer to ${call} is not JSON`, 500, []);
  }
}

const attemptsMax = 4;
const pauseMs = 25;

export type DynamoDb = <C extends keyof Calls>(call: C, input: Calls[C][0]) => Promise<Calls[C][1]>;

/**
 * DynamoDB's own protocol (AWS JSON 1.0), over connections that are kept: the SDK's client needs more processor time
 * for a call than all else in a request together, and most of a cold start (ADR 0004). A call that failed for a moment
 * is made up to four times, a transaction under one ClientRequestToken, so that it is never carried out twice.
 */
export function connectDynamoDb(): DynamoDb {
  const url = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? `https://dynamodb.${ownRegion()}.amazonaws.com`);
  const agent = new (url.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true });

  return async function send<C extends keyof Calls>(call: C, input: Calls[C][0]): Promise<Calls[C][1]> {
    const token = call === "TransactWriteItems" && { ClientRequestToken: randomUUID() };
    const body = JSON.stringify({ ...input, ...token });
    const headers = {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${call}`,
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await signedPost("dynamodb", url, headers, body, { agent });
        if (answer.status !== 200) throw refused(call, answer.status, answer.body);
        return outputOf(call, answer.body);
      } catch (error) {
        if (attempt === attemptsMax || !isTransient(error)) throw error;
      }
      await sleep(pauseMs * 2 ** attempt * Math.random());
    }
  };
}
