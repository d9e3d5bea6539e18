import * as z from "zod";
import { isStorableText, lengthOf } from "../../../api/common.ts";
import { type ColumnType, isManagedName, tableLimits } from "../../../api/tables.ts";
import type { Column } from "./definition.ts";
import type { Assignment } from "./rows.ts";

interface Issue {
  path: string;
  message: string;
}

const instantPattern = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const instantMin = Date.parse("0001-01-01T00:00:00.000Z");
const instantMax = Date.parse("9999-12-31T23:59:59.999Z");

/** An instant with at most milliseconds, or a day, which stands for its first moment in UTC; undefined for anything else. */
function instantOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !instantPattern.safeParse(value).success || /\.\d{4}/.test(value)) return undefined;
  const time = Date.parse(value);
  return time >= instantMin && time <= instantMax ? new Date(time).toISOString() : undefined;
}

/** The JSON text of a value, or what is wrong with it: JSON.parse reads 1e400 as Infinity, which JSON cannot write. */
function jsonOf(value: unknown): { text: string } | { message: string } {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > tableLimits.jsonDepthMax)
      return { message: `must not be nested deeper than ${tableLimits.jsonDepthMax}` };
    if (level.some((one) => typeof one === "number" && !Number.isFinite(one))) {
      return { message: "must hold finite numbers only" };
    }
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return { text: JSON.stringify(value) };
}

function textOf(type: ColumnType, value: unknown): { text: string } | { message: string } {
  switch (type) {
    case "string":
    case "text": {
      if (typeof value !== "string") return { message: "must be a string" };
      if (!isStorableText(value)) return { message: "must be well-formed Unicode without NUL" };
      const tooLong = type === "string" && lengthOf(value) > tableLimits.stringLengthMax;
      return tooLong ? { message: `must have at most ${tableLimits.stringLengthMax} characters` } : { text: value };
    }
    case "integer":
      if (Number.isSafeInteger(value)) return { text: String(value) };
      return { message: "must be an integer from -9007199254740991 to 9007199254740991" };
    case "float":
      return Number.isFinite(value) ? { text: String(value) } : { message: "must be a finite number" };
    case "boolean":
      return typeof value === "boolean" ? { text: String(value) } : { message: "must be true or false" };
    case "date": {
      const text = instantOf(value);
      return text ? { text } : { message: "must be an ISO 8601 date or instant with offset and at most milliseconds" };
    }
    case "json":
      return jsonOf(value);
  }
}

function assign(column: Column, value: unknown): Assignment | Issue {
  const path = `row.${column.name}`;
  if (value === null) {
    if (column.nullable) return { column: column.name, type: column.type, text: null };
    return { path, message: "must not be null" };
  }
  const result = textOf(column.type, value);
  if ("message" in result) return { path, message: result.message };
  return { column: column.name, type: column.type, text: result.text };
}

/** The values of a row as its columns take them, or every rule that they break (CONTRACT §6). */
export function assignments(
  columns: Column[],
  row: [column: string, value: unknown][],
  purpose: "create" | "update",
): { values: Assignment[] } | { issues: Issue[] } {
  const results = row.map(([name, value]): Assignment | Issue => {
    const column = columns.find((one) => one.name === name);
    if (column) return assign(column, value);
    const why = isManagedName(name) ? "is managed automatically and cannot be set" : "is not a column of the table";
    return { path: `row.${name}`, message: why };
  });
  const named = new Set(row.map(([name]) => name));
  const lacking = purpose === "create" ? columns.filter((one) => !one.nullable && one.default === null) : [];
  const issues = [
    ...results.filter((result) => "message" in result),
    ...lacking
      .filter((one) => !named.has(one.name))
      .map((one) => ({ path: `row.${one.name}`, message: "is required" })),
  ];
  return issues.length > 0 ? { issues } : { values: results.filter((result) => "text" in result) };
}
