import { sql } from "kysely";
import { type ColumnType, tableLimits } from "../../../api/tables.ts";
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
const floatPattern = sql.lit("^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]{1,3})?$");
const dayPattern = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const timePattern = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,3})?(Z|[-+][0-9]{2}:[0-9]{2})";
const datePattern = sql.lit(`^${dayPattern}(T${timePattern})?$`);

const isoText = (value: Sql): Sql => sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const asText = (value: Sql): Sql => sql`cast(${value} as text)`;

function dateOf(text: Sql): Sql {
  return sql`cast(case when char_length(${text}) = 10 then ${text} || 'T00:00:00Z' else ${text} end as timestamptz)`;
}

/** From the text of a value; a type's own text is what an answer shows of it. */
function fromText(text: Sql, to: ColumnType): Conversion {
  switch (to) {
    case "text":
      return { fits: always, to: text };
    case "string":
      return { fits: sql`char_length(${text}) <= ${sql.lit(tableLimits.stringLengthMax)}`, to: text };
    case "integer":
      return {
        fits: sql`case when ${text} ~ ${integerPattern} then abs(cast(${text} as bigint)) <= ${integerMax} end`,
        to: sql`cast(${text} as bigint)`,
      };
    case "float": {
      const kept = sql`cast(cast(cast(${text} as double precision) as text) as numeric) = cast(${text} as numeric)`;
      return {
        fits: sql`case when ${text} ~ ${floatPattern} then ${kept} end`,
        to: sql`cast(${text} as double precision)`,
      };
    }
    case "boolean":
      return { fits: sql`${text} in ('true', 'false')`, to: sql`${text} = 'true'` };
    case "date": {
      const range = sql`timestamptz '0001-01-01T00:00:00Z' and timestamptz '9999-12-31T23:59:59.999Z'`;
      return {
        fits: sql`case when ${text} ~ ${datePattern} then ${dateOf(text)} between ${range} end`,
        to: dateOf(text),
      };
    }
    case "json":
      // PostgreSQL itself refuses what is not JSON; JSON's null could not be told from no value.
      return {
        fits: sql`cast(cast(${text} as json) as text) !~ '^[[:space:]]*null[[:space:]]*$'`,
        to: sql`cast(${text} as json)`,
      };
  }
}

function fromNumber(value: Sql, to: ColumnType): Conversion | undefined {
  switch (to) {
    case "string":
    case "text":
      return fromText(asText(value), to);
    case "integer":
      return {
        fits: sql`${value} = trunc(${value}) and abs(${value}) <= ${integerMax}`,
        to: sql`cast(${value} as bigint)`,
      };
    case "float":
      return { fits: always, to: sql`cast(${value} as double precision)` };
    case "boolean":
      return { fits: sql`${value} in (0, 1)`, to: sql`${value} = 1` };
    case "json":
      return { fits: always, to: sql`to_json(${value})` };
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

/** A date in JSON is a string; everything else is read as JSON writes it. */
function fromJson(value: Sql, to: ColumnType): Conversion {
  if (to !== "date") return fromText(asText(value), to);
  const text = sql`(${value} #>> '{}')`;
  const inner = fromText(text, to);
  return { fits: sql`case when json_typeof(${value}) = 'string' then ${inner.fits} end`, to: inner.to };
}

function known(value: Sql, from: ColumnType, to: ColumnType): Conversion | undefined {
  switch (from) {
    case "string":
    case "text":
      return fromText(value, to);
    case "integer":
    case "float":
      return fromNumber(value, to);
    case "boolean":
      return fromBoolean(value, to);
    case "date":
      return fromDate(value, to);
    case "json":
      return fromJson(value, to);
  }
}

/**
 * The conversion between two types that keeps the data: what does not come through whole does not fit, so that a text
 * is never cut, a fraction never rounded, a leading zero never lost. Types without a common form fit null only.
 */
export function conversion(value: Sql, from: ColumnType, to: ColumnType): Conversion {
  return known(value, from, to) ?? { fits: sql`false`, to: sql`null` };
}
