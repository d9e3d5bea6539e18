import { type RawBuilder, sql } from "kysely";
import { tableLimits } from "../../../api/tables.ts";
import { numberLengthMax } from "./exact-number.ts";
import { innerNames as names, ownStates, untilSetting } from "./inner-names.ts";
import type { Sql } from "./sql.ts";

/** A function of a database. Bodies hold no colon, which the Data API could take for a parameter. */
interface InnerFunction {
  name: string;
  parameters: string;
  returns: string;
  language: "plpgsql" | "sql";
  options: string;
  body: string;
}

const tooLate = `raise exception using errcode = '${ownStates.tooLate}'`;
const isLate = "extract(epoch from clock_timestamp()) * 1000 > p_until";

/** Runs as the function's owner, the database's role, whoever calls; no statement in it can change the role. */
const asOwner = "security definer";

/** Runs one statement on rows, and takes it back when it has taken too long: the caller has been told so by then. */
const runQuery: InnerFunction = {
  name: names.query,
  parameters: "p_sql text, p_values text[], p_until bigint",
  returns: "setof record",
  language: "plpgsql",
  options: asOwner,
  body: `
begin
  if ${isLate} then ${tooLate}; end if;
  return query execute p_sql using p_values;
  if ${isLate} then ${tooLate}; end if;
end`,
};

/**
 * Changes the catalog and the table in one statement: all of it or, when any part fails, nothing, with the place and
 * the SQLSTATE of the failure as the answer. So no transaction stays open between two calls, and no caller that dies
 * leaves a lock behind.
 */
const runChange: InnerFunction = {
  name: names.change,
  parameters: "p_name text, p_version bigint, p_definition text, p_statements text, p_dry_run boolean, p_until bigint",
  returns: "text",
  language: "plpgsql",
  options: `${asOwner} set lock_timeout = '8s'`,
  body: `
declare
  one json;
  done integer default 0;
  found_id bigint;
begin
  perform set_config('${untilSetting}', cast(p_until as text), true);
  if p_definition is null then
    delete from "${names.catalog}" where name = p_name;
    if not found then return '{"state":"missing"}'; end if;
  elsif p_version = 0 then
    insert into "${names.catalog}" (name, definition, version)
      values (p_name, cast(p_definition as json), 1) on conflict do nothing;
    if not found then return '{"state":"exists"}'; end if;
  else
    update "${names.catalog}" set definition = cast(p_definition as json), version = version + 1
      where name = p_name and version = p_version;
    if not found then return '{"state":"changed"}'; end if;
  end if;
  for one in select value from json_array_elements(cast(p_statements as json)) loop
    if cast(one ->> 'check' as boolean) then
      execute one ->> 'sql' into found_id;
      if found_id is not null then raise exception using errcode = one ->> 'state'; end if;
    else
      execute one ->> 'sql';
    end if;
    done = done + 1;
    if ${isLate} then ${tooLate}; end if;
  end loop;
  if p_dry_run then raise exception using errcode = '${ownStates.dryRun}'; end if;
  return '{"state":"done"}';
exception when others then
  if sqlstate = '${ownStates.dryRun}' then return '{"state":"done"}'; end if;
  return json_build_object('state', 'refused', 'code', sqlstate, 'statement', done, 'row', found_id);
end`,
};

/**
 * Runs before each insert and update of a row: sets updated_at and the columns that it is told of, unless the update
 * gave them another value, and keeps a row small enough for the Data API to return it.
 */
const beforeRow: InnerFunction = {
  name: names.rowTriggerFunction,
  parameters: "",
  returns: "trigger",
  language: "plpgsql",
  options: "",
  body: `
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
end`,
};

const significantDigits = (number: string) =>
  `length(rtrim(ltrim(translate(split_part(lower(${number}), 'e', 1), '-.', ''), '0'), '0'))`;

/**
 * Whether JavaScript reads a number back as it is written. `isExactNumber` is the same rule in TypeScript. PostgreSQL
 * writes 1e23, which lies half-way between two doubles, as 9.999999999999999e+22, where JavaScript writes 1e+23: so a
 * number with fewer digits than PostgreSQL's is exact too.
 */
const floatFits: InnerFunction = {
  name: names.floatFits,
  parameters: "p_number text",
  returns: "boolean",
  language: "sql",
  options: "immutable",
  body: `
select case
  when length(p_number) > ${numberLengthMax} or not pg_input_is_valid(p_number, 'double precision')
    or not pg_input_is_valid(p_number, 'numeric') then false
  else cast(written as numeric) = cast(p_number as numeric)
    or ${significantDigits("p_number")} < ${significantDigits("written")} end
from (select case when pg_input_is_valid(p_number, 'double precision')
  then cast(cast(p_number as double precision) as text) end as written) as postgres`,
};

const longNumbers = "-?[0-9][-+.0-9eE]{15,}|-?[0-9][.0-9]*[eE][-+]?[0-9]+";
const unstorableEscape = String.raw`\\u(0000|d[89a-f])`;

/**
 * Whether a text is JSON that answers can give back whole: not null, not nested too deep, its numbers not rounded, no
 * key twice in one object. `jsonLoss` is the same rule in TypeScript. Each pass is linear. The depth comes first,
 * because PostgreSQL's own JSON parser calls itself for every level. Its check of keys cannot read \u0000 and halves of
 * surrogate pairs, so that other characters stand in for them.
 */
const jsonFits: InnerFunction = {
  name: names.jsonFits,
  parameters: "p_text text",
  returns: "boolean",
  language: "plpgsql",
  options: "",
  body: String.raw`
declare
  p_until bigint = cast(nullif(current_setting('${untilSetting}', true), '') as bigint);
  bare text;
  readable text = p_text;
  deepest bigint;
begin
  if ${isLate} then ${tooLate}; end if;
  if length(p_text) - length(translate(p_text, '[{', '')) > ${tableLimits.jsonDepthMax} then
    bare = regexp_replace(p_text, '"(?:[^"\\]|\\.)*"', '', 'g');
    select max(level) into deepest from (
      select sum(case when one in ('[', '{') then 1 else -1 end) over (order by place) as level
      from string_to_table(regexp_replace(bare, '[^][{}]+', '', 'g'), null) with ordinality as list(one, place)
    ) as levels;
    if deepest > ${tableLimits.jsonDepthMax} then return false; end if;
  end if;
  if p_text is not json or btrim(p_text, E' \t\n\r') = 'null' then return false; end if;
  if p_text ~ '[0-9.]{15}|[0-9][eE]' then
    bare = coalesce(bare, regexp_replace(p_text, '"(?:[^"\\]|\\.)*"', '""', 'g'));
    if exists (
      select from regexp_matches(bare, '${longNumbers}', 'g') as found(number) where not "${names.floatFits}"(number[1])
    ) then return false; end if;
  end if;
  if p_text ~* '${unstorableEscape}' then
    readable = replace(readable, '\\', chr(1));
    readable = regexp_replace(readable, '\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})', E'\x02\\1\x02\\2', 'gi');
    readable = regexp_replace(readable, '\\u0000', '\\ue000', 'g');
    readable = regexp_replace(readable, '\\ud([89a-f][0-9a-f]{2})', '\\ue\1', 'gi');
    readable = replace(replace(readable, chr(2), '\u'), chr(1), '\\');
  end if;
  return readable is json with unique keys;
end`,
};

/**
 * Makes the database's role, which has the schema's name and owns the schema with its tables and functions. A database
 * of an earlier version, whose tables belonged to the service's own role, is taken over as well.
 */
export const ownerBody = `
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

/** The functions of a database, in the order in which they need each other. */
export const innerFunctions = [runQuery, runChange, beforeRow, floatFits, jsonFits];

/** The statement that makes a function; it can run again. */
export function functionStatement(schema: string, one: InnerFunction): Sql {
  const raw = (text: string): RawBuilder<unknown> => sql.raw(text);
  return sql`create or replace function ${sql.id(schema, one.name)}(${raw(one.parameters)}) returns ${raw(one.returns)}
    language ${raw(one.language)} ${raw(one.options)} set search_path = ${sql.id(schema)}, pg_temp
    as ${sql.lit(one.body)}`;
}
