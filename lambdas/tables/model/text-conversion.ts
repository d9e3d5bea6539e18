import { sql } from "kysely";
import { type ColumnType, tableLimits } from "../../../api/tables.ts";
import { innerNames } from "./inner-names.ts";
import type { Sql } from "./sql.ts";

/** How a column's values become another type. Only values for which `fits` is true are converted. */
export interface Conversion {
  /** Whether a value that is not null converts without losing anything. */
  fits: Sql;
  to: Sql;
}

export const always = sql`true`;
const integerMax = sql.lit(Number.MAX_SAFE_INTEGER);
const integerPattern = sql.lit("^(0|-?[1-9][0-9]{0,15})$");
const floatPattern = sql.lit("^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$");
const dayPattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const timePattern = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,3})?(Z|[-+][0-9]{2}:[0-9]{2})";
const datePattern = sql.lit(`^${dayPattern}(T${timePattern})?$`);

export const asText = (value: Sql): Sql => sql`cast(${value} as text)`;
export const asFloat = (text: Sql): Sql => sql`cast(${text} as double precision)`;

export const floatFits = (schema: string, text: Sql): Sql => sql`${sql.id(schema, innerNames.floatFits)}(${text})`;
const jsonFits = (schema: string, text: Sql): Sql => sql`${sql.id(schema, innerNames.jsonFits)}(${text})`;

function stringFits(text: Sql): Sql {
  return sql`char_length(${text}) <= ${sql.lit(tableLimits.stringLengthMax)}`;
}

export function integerFits(number: Sql): Sql {
  return sql`${number} = trunc(${number}) and abs(${number}) <= ${integerMax}`;
}

function dateOf(text: Sql): Sql {
  return sql`case when char_length(${text}) = 10 then ${text} || 'T00:00:00Z' else ${text} end`;
}

function dateFits(text: Sql): Sql {
  const range = sql`timestamptz '0001-01-01T00:00:00Z' and timestamptz '9999-12-31T23:59:59.999Z'`;
  return sql`case
    when ${text} !~ ${datePattern} or not pg_input_is_valid(${dateOf(text)}, 'timestamptz') then false
    else cast(${dateOf(text)} as timestamptz) between ${range} end`;
}

/** From the text of a value, as an answer shows it. */
export function fromText(schema: string, text: Sql, to: ColumnType): Conversion {
  switch (to) {
    case "text":
      return { fits: always, to: text };
    case "string":
      return { fits: stringFits(text), to: text };
    case "integer": {
      const number = sql`cast(${text} as bigint)`;
      return { fits: sql`case when ${text} ~ ${integerPattern} then abs(${number}) <= ${integerMax} end`, to: number };
    }
    case "float":
      return {
        fits: sql`case when ${text} ~ ${floatPattern} then ${floatFits(schema, text)} end`,
        to: asFloat(text),
      };
    case "boolean":
      return { fits: sql`${text} in ('true', 'false')`, to: sql`${text} = 'true'` };
    case "date":
      return { fits: dateFits(text), to: sql`cast(${dateOf(text)} as timestamptz)` };
    case "json":
      // JSON's null could not be distinguished from a missing value, so it does not fit.
      return { fits: jsonFits(schema, text), to: sql`cast(${text} as json)` };
  }
}
