import { sql } from "kysely";
import { compile, type Sql } from "./sql.ts";

/** One statement of a change, and the field of the request that asks for it. */
export type ChangeStatement = { sql: string; path: string } & (
  | { check: false }
  /** Must find no row: a found id is that of the conflicting row, and `state` is the SQLSTATE of the conflict. */
  | { check: true; state: string }
);

export const tableId = (schema: string, table: string): Sql => sql`${sql.id(schema, table)}`;

/** Definitions take no parameters: each statement of a change stands for itself. */
function textOf(statement: Sql): string {
  const compiled = compile(statement);
  if (compiled.values.length > 0) throw new Error("A definition must not hold parameters");
  return compiled.sql;
}

/** A statement that changes the table, its comments or its trigger. */
export function changeStatement(path: string, statement: Sql): ChangeStatement {
  return { sql: textOf(statement), path, check: false };
}

/** A check; it changes nothing. */
export function checkStatement(path: string, statement: Sql, state: string): ChangeStatement {
  return { sql: textOf(statement), path, check: true, state };
}
