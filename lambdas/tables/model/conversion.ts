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

const always = sql`true`;
const integerMax = sql.lit(Number.MAX_SAFE_INTEGER);
const integerPattern = sql.lit("^(0|-?[1-9][0-9]{0,15})$");
const floatPattern = sql.lit("^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$");
const dayPattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const timePattern = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,3})?(Z|[-+][0-9]{2}:[0-9]{2})";
const datePattern = sql.lit(`^${dayPattern}(T${timePattern})?$`);

const unreadable = sql.lit("\\\\u(0000|d[89a-f])");

const isoText = (value: Sql): Sql => sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const asText = (value: Sql): Sql => sql`cast(${value} as text)`;
const asFloat = (text: Sql): Sql => sql`cast(${text} as double precision)`;

const floatFits = (schema: string, text: Sql): Sql => sql`${sql.id(schema, innerNames.floatFits)}(${text})`;
const jsonFits = (schema: string, text: Sql): Sql => sql`${sql.id(schema, innerNames.jsonFits)}(${text})`;

function stringFits(text: Sql): Sql {
  return sql`char_length(${text}) <= ${sql.lit(tableLimits.stringLengthMax)}`;
}

function integerFits(number: Sql): Sql {
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
function fromText(schema: string, text: Sql, to: ColumnType): Conversion {
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
      // JSON's null could not be told from no value, so it does not fit.
      return { fits: jsonFits(schema, text), to: sql`cast(${text} as json)` };
  }
}

/** A number as JavaScript writes it: without an exponent from a millionth up to 21 digits, with as few digits as do. */
function floatText(value: Sql): Sql {
  const fifteenDigits = sql`cast(${value} as numeric)`;
  const exact = sql`case when ${asFloat(fifteenDigits)} = ${value} then ${fifteenDigits}
    else cast(${asText(value)} as numeric) end`;
  const short = sql`regexp_replace(${asText(value)}, 'e([-+])0', 'e\\1')`;
  return sql`case when ${value} = 0 then '0'
    when abs(${value}) >= 1e-6 and abs(${value}) < 1e21 then cast(trim_scale(${exact}) as text) else ${short} end`;
}

function fromNumber(value: Sql, from: "integer" | "float", to: ColumnType): Conversion | undefined {
  const text = from === "integer" ? asText(value) : floatText(value);
  switch (to) {
    case "string":
    case "text":
      return { fits: always, to: text };
    case "integer":
      return { fits: integerFits(value), to: sql`cast(${value} as bigint)` };
    case "float":
      return { fits: always, to: asFloat(value) };
    case "boolean":
      return { fits: sql`${value} in (0, 1)`, to: sql`${value} = 1` };
    case "json":
      return { fits: always, to: sql`cast(${text} as json)` };
    case "date":
      return undefined;
  }
}

function fromBoolean(value: Sql, to: ColumnType): Conversion | undefined {
  switch (to) {
    case "string":
    case "text":
      return { fits: always, to: asText(value) };
    case "integer":
      return { fits: always, to: sql`cast(cast(${value} as integer) as bigint)` };
    case "float":
      return { fits: always, to: sql`cast(cast(${value} as integer) as double precision)` };
    case "json":
      return { fits: always, to: sql`to_json(${value})` };
    case "boolean":
    case "date":
      return undefined;
  }
}

function fromDate(value: Sql, to: ColumnType): Conversion | undefined {
  if (to === "string" || to === "text") return { fits: always, to: isoText(value) };
  return to === "json" ? { fits: always, to: sql`to_json(${isoText(value)})` } : undefined;
}

const whitespace = sql`E' \\t\\n\\r'`;

/** JSON's numbers, true and false become ours. A date in JSON is a string. As text, JSON is what it is written as. */
function fromJson(schema: string, value: Sql, to: ColumnType): Conversion {
  const text = asText(value);
  const trimmed = sql`btrim(${text}, ${whitespace})`;
  const numberOr = (fits: Sql) => sql`case when json_typeof(${value}) = 'number' then ${fits} end`;
  switch (to) {
    case "string":
    case "text":
    case "json":
      return fromText(schema, text, to);
    case "boolean":
      return fromText(schema, trimmed, to);
    case "float":
      return { fits: numberOr(floatFits(schema, trimmed)), to: asFloat(trimmed) };
    case "integer": {
      const number = sql`cast(${trimmed} as numeric)`;
      const exact = sql`case when ${floatFits(schema, trimmed)} then ${integerFits(number)} end`;
      return { fits: numberOr(exact), to: sql`cast(${number} as bigint)` };
    }
    case "date": {
      // No date holds these escapes, and PostgreSQL cannot read a string with them.
      const readable = sql`json_typeof(${value}) = 'string' and ${text} !~* ${unreadable}`;
      const inner = fromText(schema, sql`(${value} #>> '{}')`, to);
      return { fits: sql`case when ${readable} then ${inner.fits} end`, to: inner.to };
    }
  }
}

function known(schema: string, value: Sql, from: ColumnType, to: ColumnType): Conversion | undefined {
  switch (from) {
    case "string":
    case "text":
      return fromText(schema, value, to);
    case "integer":
    case "float":
      return fromNumber(value, from, to);
    case "boolean":
      return fromBoolean(value, to);
    case "date":
      return fromDate(value, to);
    case "json":
      return fromJson(schema, value, to);
  }
}

/**
 * The conversion between two types that keeps the data: what does not come through whole does not fit, so that a text
 * is never cut, a fraction never rounded, a leading zero never lost. Types without a common form fit null only.
 */
export function conversion(schema: string, value: Sql, from: ColumnType, to: ColumnType): Conversion {
  return known(schema, value, from, to) ?? { fits: sql`false`, to: sql`null` };
}
