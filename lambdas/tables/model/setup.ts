import { sql } from "kysely";
import type { Statement } from "../../aws/databases.ts";
import { functionStatement, innerFunctions, ownerBody } from "./functions.ts";
import { innerNames as names } from "./inner-names.ts";
import { compile } from "./sql.ts";

/**
 * What a database has to hold before its first table. All of it runs in one transaction, and can run again: it also
 * brings a database of an earlier version up to date.
 */
export function setupStatements(schema: string): Statement[] {
  const id = (name: string) => sql.id(schema, name);
  return [
    sql`select cast(pg_advisory_xact_lock(hashtext(${schema})) as text)`,
    sql`create schema if not exists ${sql.id(schema)}`,
    sql`create table if not exists ${id(names.catalog)} (
      number bigint generated always as identity (sequence name ${id("$tables_number")}),
      name text constraint ${sql.id("$tables_name")} primary key,
      definition json not null,
      version bigint not null
    )`,
    sql`create unique index if not exists ${sql.id("$tables_folded")} on ${id(names.catalog)} (lower(name))`,
    sql`create table if not exists ${id(names.idempotency)} (
      hash text constraint ${sql.id(names.idempotencyConstraint)} primary key,
      body_hash text not null,
      row_id bigint,
      at timestamptz not null default current_timestamp
    )`,
    ...innerFunctions.map((one) => functionStatement(schema, one)),
    sql`select set_config('search_path', ${sql.lit(`"${schema}"`)}, true)`,
    sql`do ${sql.lit(ownerBody)}`,
  ].map(compile);
}
