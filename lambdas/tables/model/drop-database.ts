import { sql } from "kysely";
import type { Statement } from "../../aws/databases.ts";
import { compile } from "./sql.ts";

/** PostgreSQL has no "drop owned if exists". */
const dropRole = (role: string) => `
begin
  if exists (select from pg_roles where rolname = '${role}') then
    execute format('drop owned by %I cascade', '${role}');
    execute format('drop role %I', '${role}');
  end if;
end`;

/** Drops a deleted database: its schema with all tables, and its role. They can run again. */
export function dropStatements(schema: string): Statement[] {
  return [
    sql`select cast(pg_advisory_xact_lock(hashtext(${schema})) as text)`,
    sql`drop schema if exists ${sql.id(schema)} cascade`,
    sql`do ${sql.lit(dropRole(schema))}`,
  ].map(compile);
}
