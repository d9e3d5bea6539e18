import type { Access } from "../../http/access.ts";
import { Replay } from "../../http/idempotency.ts";
import { notFound } from "../../http/problem.ts";

/** The row's id in a path; throws 404 if it cannot be a row's id. */
export function rowIdOf(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw notFound();
  return id;
}

/** Stores the response for its Idempotency-Key; throws the first response if a duplicate of this request was faster. */
export async function remember<T>(access: Access, reply: T): Promise<T> {
  if (access.idempotencyKey) {
    await access.commit({}, reply).catch((error) => {
      if (error instanceof Replay) throw error;
    });
  }
  return reply;
}
