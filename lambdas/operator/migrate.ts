import * as z from "zod";
import { command } from "./command.ts";
import { upgradesOf } from "./model/earlier-rows.ts";
import { Migration, migrationVersion } from "./model/migration.ts";

const input = z.object({
  /** Where an invocation before this one ended. */
  after: z.object({ pk: z.string(), sk: z.string() }).optional(),
  /** Does nothing if this version has migrated the whole table before. */
  onlyIfNeeded: z.boolean().default(false),
});
const rowsAtOnce = 50;
/** One invocation ends in time to be answered; the next one continues. */
const invocationMs = 15_000;

/**
 * Brings rows that an earlier version wrote up to date, in small transactions; it can run twice, and while requests are served.
 * `next` is where the next invocation continues; null when every row was looked at.
 */
export const migrate = command(input, async ({ after, onlyIfNeeded }, { table, migration, now }) => {
  const report = { rows: 0, changed: 0, changedMeanwhile: 0, conflicts: [] as string[] };
  const { done } = await table.read({ done: Migration.at({}) });
  if (onlyIfNeeded && (done?.version ?? 0) >= migrationVersion) return { ...report, next: null };
  let next = after ?? null;
  do {
    const page = await migration.page(rowsAtOnce, next ?? undefined);
    next = page.next;
    report.rows += page.items.length;
    for (const item of page.items) {
      const { writes, conflicts } = await upgradesOf(item, table);
      report.conflicts.push(...conflicts);
      for (const transaction of writes) {
        const { ok } = await migration.write(transaction);
        report[ok ? "changed" : "changedMeanwhile"] += 1;
      }
    }
  } while (next !== null && Date.now() - now.getTime() < invocationMs);
  if (next === null) await migration.write({ done: Migration.put({}, { version: migrationVersion }) });
  return { ...report, next };
});
