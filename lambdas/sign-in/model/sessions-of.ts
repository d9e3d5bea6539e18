import { ConsoleSession, type ConsoleSessionRow } from "../../http/model/console-session.ts";
import type { TableReader } from "../../table/reader.ts";

/** The sessions of a user that have not expired. */
export async function sessionsOf(table: TableReader, userId: string, now: Date): Promise<ConsoleSessionRow[]> {
  const rows: ConsoleSessionRow[] = [];
  let after: string | undefined;
  do {
    const page = await table.list(ConsoleSession.list({ userId }, { limit: 100, after }));
    rows.push(...page.rows);
    after = page.more ? page.rows.at(-1)?.id : undefined;
  } while (after !== undefined);
  return rows.filter(({ expiresAt }) => expiresAt > now.toISOString());
}
