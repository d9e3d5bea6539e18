import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "./problem.ts";

const pauseMsFirst = 20;
const pauseMsMax = 1_000;

/** The time for conflicts of one request; on AWS, 7 s are then left for its last attempt (see `withDeadline`). */
const conflictMs = 15_000;

/**
 * Repeats an attempt until it gives a result. `undefined` means that another request has changed the same thing in the meantime,
 * so the pauses are random and grow. Throws 503 when the next attempt would come after `until`; `changing` names for
 * the log what kept changing.
 */
export async function retryConflicts<T>(
  changing: string,
  attempt: () => Promise<T | undefined>,
  until: number = Date.now() + conflictMs,
): Promise<T> {
  for (let longestMs = pauseMsFirst; ; longestMs = Math.min(longestMs * 2, pauseMsMax)) {
    const result = await attempt();
    if (result !== undefined) return result;
    const pauseMs = Math.random() * longestMs;
    if (Date.now() + pauseMs > until) throw unavailable(new Error(`${changing} kept changing`));
    await sleep(pauseMs);
  }
}
