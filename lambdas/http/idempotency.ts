import { createHash } from "node:crypto";
import type middy from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { limits } from "../../api/limits.ts";
import type { Route } from "../../api/route.ts";
import { IdempotencyRecord, type IdempotencyRow } from "./model/idempotency-record.ts";
import type { HttpInput, ParsedContext } from "./parse.ts";
import type { PresentedCredential } from "./presented-credential.ts";
import { idempotencyMismatch } from "./problem.ts";

/** One caller's Idempotency-Key on one path, and the body that it came with. */
export interface IdempotencyKey {
  hash: string;
  bodyHash: string;
}

/** The stored first answer to an Idempotency-Key; thrown past the handler and answered by `idempotency`. */
export class Replay extends Error {
  readonly reply: unknown;
  constructor(reply: unknown) {
    super("The request was answered before");
    this.reply = reply;
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("base64url");

function callerName(credential: PresentedCredential): string {
  switch (credential.kind) {
    case "key":
      return credential.access;
    case "token":
    case "console":
      return credential.userId;
    case "session":
      return credential.sessionId;
  }
}

export type IdempotencyContext = { idempotencyKey?: IdempotencyKey | undefined };

/** The key of a POST, bound to its caller and path; a key of the wrong length is an issue of the input. */
function idempotencyKey(route: Route, input: HttpInput, path: string): IdempotencyKey | undefined {
  const { credential, headers, text = "", issues } = input;
  const key = headers["idempotency-key"];
  if (key === undefined || !credential || route.method !== "POST") return undefined;
  if (key.length < 1 || key.length > limits.idempotencyKeyLengthMax) {
    issues.push({ path: "Idempotency-Key", message: `must have 1 to ${limits.idempotencyKeyLengthMax} characters` });
    return undefined;
  }
  return { hash: digest(JSON.stringify([callerName(credential), path, key])), bodyHash: digest(text) };
}

/** Reads the Idempotency-Key, and answers a repeated request as `replay` completes the stored answer. */
export function idempotency<C extends ParsedContext<HttpInput> & IdempotencyContext, Answer>(
  route: Route,
  replay: (reply: unknown, context: C) => Promise<Answer>,
): middy.MiddlewareObj<APIGatewayProxyEventV2, Answer, Error, C> {
  return {
    before: ({ event, context }) => {
      context.idempotencyKey = idempotencyKey(route, context.input, event.rawPath);
    },
    onError: async (request) => {
      if (!(request.error instanceof Replay)) return undefined;
      return replay(request.error.reply, request.context).catch((error) => {
        request.error = error;
        return undefined;
      });
    },
  };
}

/** Throws the stored answer, or 422 if it belongs to another body. An expired record is ignored. */
export function throwRepeated(record: IdempotencyRow | undefined, { bodyHash }: IdempotencyKey, now: Date): void {
  if (!record || record.expiresAt <= now.toISOString()) return;
  if (record.bodyHash !== bodyHash) throw idempotencyMismatch();
  throw new Replay(JSON.parse(record.reply));
}

/** Stores the answer, unless one is stored that has not expired. */
export function storeAnswer({ hash, bodyHash }: IdempotencyKey, reply: unknown, now: Date) {
  const expires = new Date(now.getTime() + limits.idempotencyValidSeconds * 1000);
  const ttl = Math.ceil(expires.getTime() / 1000);
  return IdempotencyRecord.put(
    { hash },
    { bodyHash, reply: JSON.stringify(reply), expiresAt: expires.toISOString(), ttl },
    { expiresAt: { is: "absentOrBelow", value: now.toISOString() } },
  );
}
