import { sql } from "kysely";
import { tableLimits } from "../../../api/tables.ts";
import type { Statement } from "../../aws/databases.ts";
import { claimConstraint } from "./idempotency-statements.ts";
import { compile, type Sql } from "./sql.ts";
import { catalogTable, changeFunction, claimTable, rowFunction } from "./statements.ts";

/** SQLSTATEs of our own, in a class that PostgreSQL does not use. */
export const ownStates = { dataInTheWay: "SW001", dryRun: "SW002", rowTooLarge: "SW003" } as const;

/**
 * Changes the catalog and the table in one statement: all of it or, when any part fails, nothing, with the place and
 * the SQLSTATE of the failure as the answer. So no transaction stays open between two calls, and no caller that dies
 * leaves a lock behind. The bodies hold no colon, which the Data API could take for a parameter.
 */
const changeBody = `
declare
  one json;
  done integer default 0;
  found_id bigint;
begin
  if p_definition is null then
    delete from "${catalogTable}" where name = p_name;
    if not found then return '{"state":"missing"}'; end if;
  elsif p_version = 0 then
    insert into "${catalogTable}" (name, definition, version)
      values (p_name, cast(p_definition as json), 1) on conflict do nothing;
    if not found then return '{"state":"exists"}'; end if;
  else
    update "${catalogTable}" set definition = cast(p_definition as json), version = version + 1
      where name = p_name and version = p_version;
    if not found then return '{"state":"changed"}'; end if;
  end if;
  for one in select value from json_array_elements(cast(p_acts as json)) loop
    if cast(one ->> 'check' as boolean) then
      execute one ->> 'sql' into found_id;
      if found_id is not null then raise exception using errcode = '${ownStates.dataInTheWay}'; end if;
    else
      execute one ->> 'sql';
    end if;
    done = done + 1;
  end loop;
  if p_dry_run then raise exception using errcode = '${ownStates.dryRun}'; end if;
  return '{"state":"done"}';
exception when others then
  return json_build_object('state', 'refused', 'code', sqlstate, 'act', done, 'row', found_id);
end`;

/**
 * Runs before each insert and update of a row: sets updated_at and the columns that it is told of, unless the update
 * gave them another value, and keeps a row small enough for the Data API to return it.
 */
const rowBody = `
declare
  touched text;
  same boolean;
begin
  if tg_op = 'UPDATE' then
    new.updated_at = current_timestamp;
    if tg_nargs > 0 then
      foreach touched in array tg_argv loop
        execute format('select ($1).%I is not distinct from ($2).%I', touched, touched) into same using new, old;
        if same then new = jsonb_populate_record(new, jsonb_build_object(touched, current_timestamp)); end if;
      end loop;
    end if;
  end if;
  if octet_length(cast(row_to_json(new) as text)) > ${tableLimits.rowBytesMax} then
    raise exception using errcode = '${ownStates.rowTooLarge}';
  end if;
  return new;
end`;

/** What has to be in a database before its first table; each statement can run again, all of them in one transaction. */
export function setupStatements(schema: string): Statement[] {
  const id = (name: string) => sql.id(schema, name);
  const path = sql`set search_path = ${sql.id(schema)}, pg_temp`;
  const statements: Sql[] = [
    sql`select cast(pg_advisory_xact_lock(hashtext(${schema})) as text)`,
    sql`create schema if not exists ${sql.id(schema)}`,
    sql`create table if not exists ${id(catalogTable)} (
      number bigint generated always as identity (sequence name ${id("$tables_number")}),
      name text constraint ${sql.id("$tables_name")} primary key,
      definition json not null,
      version bigint not null
    )`,
    sql`create unique index if not exists ${sql.id("$tables_folded")} on ${id(catalogTable)} (lower(name))`,
    sql`create table if not exists ${id(claimTable)} (
      hash text constraint ${sql.id(claimConstraint)} primary key,
      body_hash text not null,
      row_id bigint,
      at timestamptz not null default current_timestamp
    )`,
    sql`create or replace function ${id(changeFunction)}
      (p_name text, p_version bigint, p_definition text, p_acts text, p_dry_run boolean) returns text
      language plpgsql ${path} set lock_timeout = '8s' as ${sql.lit(changeBody)}`,
    sql`create or replace function ${id(rowFunction)}() returns trigger language plpgsql ${path} as ${sql.lit(rowBody)}`,
  ];
  return statements.map(compile);
}
