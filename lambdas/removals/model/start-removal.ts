import { removalInput } from "../../../statemachines/steps.ts";
import type { RemovalStarter } from "../../aws/removals.ts";
import { errorFields, log } from "../../http/log.ts";
import { invalid } from "../../http/problem.ts";
import type { RemovalRow } from "./removal.ts";

/** Throws 400 unless the request repeats the name of what it deletes (docs/api.md, Deletion). */
export function checkConfirmed(confirm: string, { name }: { name: string }): void {
  if (confirm !== name) throw invalid([{ path: "confirm", message: "must be the name of what is to be deleted" }]);
}

/** Starts the execution of a removal whose row is written; if that fails, reconcile-locks starts it. */
export async function startRemoval(row: RemovalRow, removals: RemovalStarter): Promise<void> {
  await removals
    .start(removalInput.parse(row), row.attempt)
    .catch((error) =>
      log("error", "A removal was not started; reconcile-locks will start it", { id: row.id, ...errorFields(error) }),
    );
}
