import * as z from "zod";

const key = z.object({ pk: z.string(), sk: z.string() });
const reportSchema = z.object({
  /** The rows that were looked at, and how many of them were brought up to date. */
  rows: z.int(),
  changed: z.int(),
  /** Rows that a request changed at the same moment; run the command again for them. */
  changedMeanwhile: z.int(),
  /** What only a person can decide, a sentence each. */
  conflicts: z.array(z.string()),
  next: key.nullable(),
});
export type MigrationReport = Omit<z.infer<typeof reportSchema>, "next">;

type Invoke = (input: object) => Promise<unknown>;

/** Invokes the operator's command `migrate` until every row was looked at; `invoke` gives the output of one invocation. */
export async function migrateAll(invoke: Invoke, input: { onlyIfNeeded?: boolean } = {}): Promise<MigrationReport> {
  const total: MigrationReport = { rows: 0, changed: 0, changedMeanwhile: 0, conflicts: [] };
  let after: z.infer<typeof key> | null = null;
  do {
    const report = reportSchema.parse(await invoke({ ...input, ...(after && { after }) }));
    total.rows += report.rows;
    total.changed += report.changed;
    total.changedMeanwhile += report.changedMeanwhile;
    total.conflicts.push(...report.conflicts);
    after = report.next;
  } while (after !== null);
  return total;
}
