import { sql } from "kysely";
import type { ColumnType } from "../../../api/tables.ts";
import type { Sql } from "./sql.ts";
import { always, asFloat, asText, type Conversion, floatFits, fromText, integerFits } from "./text-conversion.ts";

const unreadable = sql.lit("\\\\u(0000|d[89a-f])");

const isoText = (value: Sql): Sql => sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A number as JavaScript writes it: without an exponent from 0.000001 up to 21 digits, with the fewest digits that identify it. */
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

/** Conversions from JSON: numbers and booleans map directly, dates are JSON strings, and text gets the JSON source. */
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
      // A date never contains these escapes, and PostgreSQL cannot parse a string with them.
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
 * The lossless conversion between two types: a value that would change does not fit, so that a text is never
 * truncated, a fraction never rounded, and a leading zero never lost. Between incompatible types only null fits.
 */
export function conversion(schema: string, value: Sql, from: ColumnType, to: ColumnType): Conversion {
  return known(schema, value, from, to) ?? { fits: sql`false`, to: sql`null` };
}
