import { DatabaseError } from "../../aws/errors.ts";
import { retryConflicts } from "../../http/retry.ts";

/** SQLSTATEs of conflicts with other transactions: a lock time-out, a deadlock, a serialization failure. */
const contended = new Set(["55P03", "40P01", "40001"]);

/** Whether the same statement can succeed a moment later. */
export function isContended(state: string): boolean {
  return contended.has(state);
}

/** Repeats attempts until one gives a result: after `undefined`, and after conflicts in the database. Throws 503 at `until`. */
export function retryUntil<T>(until: number, attempt: () => Promise<T | undefined>): Promise<T> {
  const withoutConflict = () =>
    attempt().catch((error) => {
      if (error instanceof DatabaseError && isContended(error.state)) return undefined;
      throw error;
    });
  return retryConflicts("The table", withoutConflict, until);
}
