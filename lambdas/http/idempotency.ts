import { createHash } from "node:crypto";
import { limits } from "../../api/limits.ts";
import { IdempotencyRecord, type IdempotencyRow } from "./model/idempotency-record.ts";
import type { PresentedCredential } from "./presented-credential.ts";
import { idempotencyMismatch } from "./problem.ts";

/** One caller's Idempotency-Key on one path, and the body that it came with. */
export interface IdempotencyKey {
  hash: string;
  bodyHash: string;
}

/** The stored first answer to an Idempotency-Key; thrown past the handler and answered by `endpoint`. */
export class Replay {
  readonly reply: unknown;
  constructor(reply: unknown) {
    this.reply = reply;
  }
}

const digest = (text: string) => createHash("sha256").update(text).digest("base64url");

function callerName(credential: PresentedCredential): string {
  switch (credential.kind) {
    case "key":
      return credential.access;
    case "token":
      return credential.userId;
    case "session":
      return credential.sessionId;
  }
}

export function idempotencyKey(
  credential: PresentedCredential,
  request: { key: string; path: string; body: string },
): IdempotencyKey {
  const { key, path, body } = request;
  return { hash: digest(JSON.stringify([callerName(credential), path, key])), bodyHash: digest(body) };
}

/** Throws the stored answer, or 422 if it belongs to another body. An expired record counts for nothing. */
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
