import type { Retrier } from "./definition-schema.ts";
import { matchesError, type TaskError } from "./errors.ts";

/** The delay before retry number `retries + 1`, in seconds; `random` is 0 ≤ n < 1. */
export function retryDelaySeconds(retrier: Retrier, retries: number, random: () => number): number {
  const grown = retrier.IntervalSeconds * retrier.BackoffRate ** retries;
  const delay = Math.min(grown, retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY, 31_622_400);
  return retrier.JitterStrategy === "FULL" ? delay * random() : delay;
}

/** The retry of a failure. Only the first matching retrier counts, even if it has no attempts left. */
export function nextRetry(
  retriers: readonly Retrier[],
  retries: ReadonlyMap<number, number>,
  failure: TaskError,
): { retrier: number; delaySeconds: number } | undefined {
  const index = retriers.findIndex((retrier) => matchesError(retrier.ErrorEquals, failure));
  const retrier = retriers[index];
  const done = retries.get(index) ?? 0;
  if (!retrier || done >= retrier.MaxAttempts) return undefined;
  return { retrier: index, delaySeconds: retryDelaySeconds(retrier, done, Math.random) };
}
