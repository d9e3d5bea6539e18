import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "../../aws/errors.ts";
import { unavailable } from "../../http/problem.ts";

/** SQLSTATEs of conflicts with other transactions: a lock time-out, a deadlock, a serialization failure. */
const contended = new Set(["55P03", "40P01", "40001"]);

/** Whether the same statement can succeed a moment later. */
export function isContended(state: string): boolean {
  return contended.has(state);
}

const pauseMsFirst = 20;
const pauseMsMax = 1_000;

/**
 * Repeats attempts until one gives a result. Other requests change the same table, so the pauses are random and grow.
 * Throws 503 when the next attempt would come after `until`.
 */
export async function retryUntil<T>(until: number, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let longestMs = pauseMsFirst; ; longestMs = Math.min(longestMs * 2, pauseMsMax)) {
    const result = await attempt().catch((error) => {
      if (error instanceof DatabaseError && isContended(error.state)) return undefined;
      throw error;
    });
    if (result !== undefined) return result;
    const pauseMs = Math.random() * longestMs;
    if (Date.now() + pauseMs > until) throw unavailable(new Error("Others kept changing the table"));
    await sleep(pauseMs);
  }
}
