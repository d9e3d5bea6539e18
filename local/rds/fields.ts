import * as z from "zod";

/** The object identifiers of PostgreSQL's built-in types that the Data API names. */
export const oid = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  varchar: 1043,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
} as const;

const typeNames = new Map<number, string>(Object.entries(oid).map(([name, id]) => [id, name]));

export function typeName(id: number): string {
  return typeNames.get(id) ?? "text";
}

const typeHint = z.enum(["DATE", "DECIMAL", "JSON", "TIME", "TIMESTAMP", "UUID"]);

/** A value on the wire of the Data API; exactly one member is set. */
const fieldSchema = z.union([
  z.strictObject({ isNull: z.literal(true) }),
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ longValue: z.int() }),
  z.strictObject({ doubleValue: z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]) }),
  z.strictObject({ booleanValue: z.boolean() }),
  z.strictObject({ blobValue: z.base64() }),
]);
export type Field = z.infer<typeof fieldSchema>;

export const parameterSchema = z.object({
  name: z.string(),
  value: fieldSchema,
  typeHint: typeHint.optional(),
});
export type Parameter = z.infer<typeof parameterSchema>;

const hinted = {
  DATE: oid.date,
  DECIMAL: oid.numeric,
  JSON: oid.json,
  TIME: oid.time,
  TIMESTAMP: oid.timestamp,
  UUID: oid.uuid,
} as const;

/**
 * The PostgreSQL type and text of a parameter. A string without a type hint is a varchar, as on AWS, so that a statement
 * without a needed cast or hint fails here too.
 */
export function boundValue(parameter: Parameter): { type: number; text: string | null } {
  const { value } = parameter;
  if ("isNull" in value) return { type: 0, text: null };
  if ("stringValue" in value) {
    return { type: parameter.typeHint ? hinted[parameter.typeHint] : oid.varchar, text: value.stringValue };
  }
  if ("longValue" in value) return { type: oid.int8, text: String(value.longValue) };
  if ("doubleValue" in value) return { type: oid.float8, text: String(value.doubleValue) };
  if ("booleanValue" in value) return { type: oid.bool, text: value.booleanValue ? "t" : "f" };
  return { type: oid.bytea, text: `\\x${Buffer.from(value.blobValue, "base64").toString("hex")}` };
}

/** Removes the offset of `2026-11-20 01:02:03.456+00`: the Data API returns timestamps in UTC without an offset. */
function withoutOffset(text: string): string {
  return text.replace(/[+-]00(:00)?$/, "");
}

/** Converts a result value from PostgreSQL's text format to the Data API's format. */
export function resultField(type: number, text: string | null, longAsString: boolean): object {
  if (text === null) return { isNull: true };
  switch (type) {
    case oid.bool:
      return { booleanValue: text === "t" };
    case oid.int2:
    case oid.int4:
    case oid.int8:
    case oid.oid:
      return longAsString ? { stringValue: text } : { longValue: Number(text) };
    case oid.float4:
    case oid.float8:
      return { doubleValue: Number.isFinite(Number(text)) ? Number(text) : text };
    case oid.bytea:
      return { blobValue: Buffer.from(text.slice(2), "hex").toString("base64") };
    case oid.timestamptz:
      return { stringValue: withoutOffset(text) };
    default:
      return { stringValue: text };
  }
}

/** Converts a result value for `formattedRecords`. */
export function plainValue(type: number, text: string | null): unknown {
  if (text === null) return null;
  const field = resultField(type, text, false);
  return Object.values(field)[0];
}
