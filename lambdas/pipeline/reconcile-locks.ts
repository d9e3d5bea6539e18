import * as z from "zod";
import { removalInput } from "../../statemachines/steps.ts";
import { Lock } from "../builds/model/rows.ts";
import { leaseUntil } from "../builds/model/transitions.ts";
import { errorFields, log } from "../http/log.ts";
import { listener } from "../http/step.ts";
import type { Tools } from "../http/tools.ts";
import { Removal, removalLease } from "../removals/model/removal.ts";
import { endLeftovers } from "./model/end-leftovers.ts";
import { endOrphanedBuild } from "./model/end-orphaned-build.ts";

type RemovalTools = Tools<"table:read" | "table:write" | "removals:start">;

const locksPerRun = 100;
/** Sorts after every timestamp: with `all`, as after a restart, locks whose lease has not ended are checked too. */
const afterEveryLease = "9";

/** Starts removals whose execution never started, or ended before everything was removed. */
async function reconcileRemovals(before: string, now: Date, { table, removals }: RemovalTools): Promise<void> {
  for (const row of await table.expiredLocks(Removal, before, locksPerRun, "REMOVAL")) {
    const { id, attempt } = row;
    try {
      const state = await removals.start(removalInput.parse(row), attempt);
      const set = { leaseUntil: removalLease(now), attempt: state === "ended" ? attempt + 1 : attempt };
      await table.write({ removal: Removal.update({ id }, { set }, { attempt }) });
      if (state === "ended") await removals.start(removalInput.parse(row), attempt + 1);
    } catch (error) {
      log("error", "A removal could not be reconciled", { id, ...errorFields(error) });
    }
  }
}

/**
 * Looks at every lock whose lease ended: an execution that was never started is started (its name makes that
 * idempotent), one that runs gets a new lease and nothing left in its way, and one that is over has its build ended and its
 * lock released.
 */
export const handler = listener(
  "reconcile-locks",
  z.looseObject({ all: z.boolean().default(false) }),
  async ({ all }, tools) => {
    const now = new Date();
    const locks = await tools.table.expiredLocks(Lock, all ? afterEveryLease : now.toISOString(), locksPerRun);
    await reconcileRemovals(all ? afterEveryLease : now.toISOString(), now, tools);
    for (const lock of locks) {
      const { organizationId, projectId, buildId, source } = lock;
      try {
        const state = await tools.deployments.start({ organizationId, projectId, buildId, source });
        if (state === "ended") await endOrphanedBuild(lock, tools);
        else {
          const set = { leaseUntil: leaseUntil(now) };
          await tools.table.write({ lock: Lock.update({ projectId }, { set }, { buildId }) });
          await endLeftovers(lock, tools);
        }
      } catch (error) {
        log("error", "A lock could not be reconciled", { buildId, ...errorFields(error) });
      }
    }
  },
);
