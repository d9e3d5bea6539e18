import { tableLimits } from "../../../api/tables.ts";
import { type InnerFunction, refuseIfLate } from "./inner-function.ts";
import { innerNames as names, ownStates, untilSetting } from "./inner-names.ts";
import { floatFits, jsonFits } from "./value-functions.ts";

/** Runs as the function's owner, the database's role, for every caller; no statement in it can change the role. */
const asOwner = "security definer";

/** Runs one statement on rows, and rolls it back if it exceeds its time limit, because the caller has already received a time-out error. */
const runQuery: InnerFunction = {
  name: names.query,
  parameters: "p_sql text, p_values text[], p_until bigint",
  returns: "setof record",
  language: "plpgsql",
  options: asOwner,
  body: `
begin
  ${refuseIfLate}
  return query execute p_sql using p_values;
  ${refuseIfLate}
end`,
};

/**
 * Changes the catalog and the table in one statement: if any part fails, nothing is changed, and the
 * result contains the failed statement and its SQLSTATE. So no transaction stays open between two calls, and a caller
 * that dies leaves no lock.
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
    ${refuseIfLate}
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

/** The functions of a database, each after those that it calls. */
export const innerFunctions = [runQuery, runChange, beforeRow, floatFits, jsonFits];
