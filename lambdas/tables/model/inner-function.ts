import { type RawBuilder, sql } from "kysely";
import { ownStates } from "./inner-names.ts";
import type { Sql } from "./sql.ts";

/** A function of a database. Bodies contain no colon, because the Data API could read it as a parameter. */
export interface InnerFunction {
  name: string;
  parameters: string;
  returns: string;
  language: "plpgsql" | "sql";
  options: string;
  body: string;
}

/** Ends a function whose `p_until`, in milliseconds, is over. */
export const refuseIfLate = `if extract(epoch from clock_timestamp()) * 1000 > p_until then
    raise exception using errcode = '${ownStates.tooLate}';
  end if;`;

/** The statement that creates a function; it is idempotent. */
export function functionStatement(schema: string, one: InnerFunction): Sql {
  const raw = (text: string): RawBuilder<unknown> => sql.raw(text);
  return sql`create or replace function ${sql.id(schema, one.name)}(${raw(one.parameters)}) returns ${raw(one.returns)}
    language ${raw(one.language)} ${raw(one.options)} set search_path = ${sql.id(schema)}, pg_temp
    as ${sql.lit(one.body)}`;
}
