import { sql } from "kysely";
import type { Statement } from "../../aws/databases.ts";
import { innerFunctions } from "./functions.ts";
import { functionStatement } from "./inner-function.ts";
import { innerNames as names } from "./inner-names.ts";
import { compile } from "./sql.ts";

/**
 * Creates the database's role, which has the schema's name and owns the schema with its tables and functions. A database
 * of an earlier version, whose tables belonged to the service's own role, is migrated.
 */
const ownerBody = `
declare
  owner text = current_schema();
  place oid = (select oid from pg_namespace where nspname = current_schema());
  one record;
begin
  if not exists (select from pg_roles where rolname = owner) then
    execute format('create role %I nologin', owner);
  end if;
  execute format('grant %I to current_user', owner);
  execute format('alter schema %I owner to %I', owner, owner);
  for one in select relname from pg_class
    where relnamespace = place and relkind = 'r' and pg_get_userbyid(relowner) <> owner
  loop
    execute format('alter table %I.%I owner to %I', owner, one.relname, owner);
  end loop;
  for one in select proname, pg_get_function_identity_arguments(oid) as arguments from pg_proc
    where pronamespace = place and pg_get_userbyid(proowner) <> owner
  loop
    execute format('alter function %I.%I(%s) owner to %I', owner, one.proname, one.arguments, owner);
  end loop;
end`;

/**
 * The objects that a database needs before its first table. All statements run in one transaction and are idempotent: they
 * also upgrade a database of an earlier version.
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
