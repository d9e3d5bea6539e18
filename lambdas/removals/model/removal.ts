import * as z from "zod";
import { removalInput } from "../../../statemachines/steps.ts";
import { absent, entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const removalSchema = () =>
  removalInput.extend({
    /** Counts the executions that were started for it; part of their names. */
    attempt: z.int(),
    /** After this instant reconcile-locks checks that the execution still runs. */
    leaseUntil: at(),
    /** Partition of the sparse index `locks`, beside that of the builds' locks. */
    lockShard: z.literal("REMOVAL"),
  });
export type RemovalRow = z.infer<ReturnType<typeof removalSchema>>;

/** What belonged to a deleted project or database is being removed; the row is deleted when nothing is left. */
export const Removal = entity(removalSchema, (k: { id: string }) => ({ pk: `DEL#${k.id}`, sk: "DEL" }));

const leaseSeconds = { first: 60, running: 600 } as const;

export const removalLease = (now: Date, kind: keyof typeof leaseSeconds = "running") =>
  new Date(now.getTime() + leaseSeconds[kind] * 1000).toISOString();

/** The row of a removal that begins. */
export function newRemoval(
  removal: Pick<RemovalRow, "id" | "kind" | "organizationId" | "buildId">,
  settleSeconds: number,
  now: Date,
) {
  const row: RemovalRow = {
    ...removal,
    settleSeconds,
    settled: false,
    attempt: 1,
    leaseUntil: removalLease(now, "first"),
    lockShard: "REMOVAL",
  };
  return { row, write: Removal.put(row, row, { pk: absent }) };
}
