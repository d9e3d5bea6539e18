import { sql } from "kysely";
import { tableLimits } from "../../../api/tables.ts";
import { type ChangeStatement, checkStatement } from "./change-statement.ts";
import type { Column } from "./definition.ts";
import { ownStates } from "./inner-names.ts";
import type { Sql } from "./sql.ts";
import type { Step } from "./steps.ts";

const growing = new Set<Step["do"]>(["convert", "add column", "rename columns"]);

/**
 * Finds a row that the steps have made too large: the trigger checks only rows that are written. Names count, because
 * each row's JSON holds them. Without a text or json column no row can be too large.
 */
export function rowSizeChecks(table: Sql, steps: Step[], after: Column[]): ChangeStatement[] {
  const paths = steps.filter((step) => growing.has(step.do)).map((step) => step.path);
  const isBounded = after.every(({ type }) => type !== "text" && type !== "json");
  if (isBounded || paths.length === 0) return [];
  const row = sql.id("$r");
  const large = sql`octet_length(cast(row_to_json(${row}) as text)) > ${sql.lit(tableLimits.rowBytesMax)}`;
  const path = paths.length === 1 ? paths.join() : "";
  return [
    checkStatement(path, sql`select ${row}.id from ${table} as ${row} where ${large} limit 1`, ownStates.rowTooLarge),
  ];
}
