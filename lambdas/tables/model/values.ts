import * as z from "zod";
import { isStorableText, lengthOf } from "../../../api/common.ts";
import { type ColumnType, isManagedName, tableLimits } from "../../../api/tables.ts";
import type { Column } from "./definition.ts";
import { isExactNumber } from "./exact-number.ts";
import { jsonLoss, writtenMembers } from "./json-text.ts";
import type { Assignment } from "./rows.ts";

interface Issue {
  path: string;
  message: string;
}

const instantPattern = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const instantMin = Date.parse("0001-01-01T00:00:00.000Z");
const instantMax = Date.parse("9999-12-31T23:59:59.999Z");

/** An instant with at most milliseconds, or a date, which means its midnight in UTC; undefined for anything else. */
function instantOf(value: unknown): string | undefined {
  if (typeof value !== "string" || !instantPattern.safeParse(value).success || /\.\d{4}/.test(value)) return undefined;
  const time = Date.parse(value);
  return time >= instantMin && time <= instantMax ? new Date(time).toISOString() : undefined;
}

/** A value of a request's row, as JSON.parse gives it and as it is written. */
export interface RowValue {
  column: string;
  value: unknown;
  written: string;
}

/** The values of the row in a request's body; `text` is the body. */
export function rowValues(row: [column: string, value: unknown][], text: string | undefined): RowValue[] {
  const written = writtenMembers(writtenMembers(text ?? "{}").get("row") ?? "{}");
  return row.map(([column, value]) => ({ column, value, written: written.get(column) ?? "" }));
}

function textOf(type: ColumnType, { value, written }: RowValue): { text: string } | { message: string } {
  switch (type) {
    case "string":
    case "text": {
      if (typeof value !== "string") return { message: "must be a string" };
      if (!isStorableText(value)) return { message: "must be well-formed Unicode without NUL" };
      const tooLong = type === "string" && lengthOf(value) > tableLimits.stringLengthMax;
      return tooLong ? { message: `must have at most ${tableLimits.stringLengthMax} characters` } : { text: value };
    }
    case "integer":
      if (Number.isSafeInteger(value) && isExactNumber(written)) return { text: String(value) };
      return { message: "must be an integer from -9007199254740991 to 9007199254740991" };
    case "float":
      return Number.isFinite(value) ? { text: String(value) } : { message: "must be a finite number" };
    case "boolean":
      return typeof value === "boolean" ? { text: String(value) } : { message: "must be true or false" };
    case "date": {
      const text = instantOf(value);
      return text ? { text } : { message: "must be an ISO 8601 date or instant with offset and at most milliseconds" };
    }
    case "json": {
      const message = jsonLoss(written);
      return message === undefined ? { text: JSON.stringify(value) } : { message };
    }
  }
}

function assign(column: Column, given: RowValue): Assignment | Issue {
  const path = `row.${column.name}`;
  if (given.value === null) {
    if (column.nullable) return { column: column.name, type: column.type, text: null };
    return { path, message: "must not be null" };
  }
  const result = textOf(column.type, given);
  if ("message" in result) return { path, message: result.message };
  return { column: column.name, type: column.type, text: result.text };
}

/** The values of a row converted to its columns' types, or every rule that they break (docs/api.md, Rows). */
export function assignments(
  columns: Column[],
  row: RowValue[],
  purpose: "create" | "update",
): { values: Assignment[] } | { issues: Issue[] } {
  const results = row.map((given): Assignment | Issue => {
    const column = columns.find((one) => one.name === given.column);
    if (column) return assign(column, given);
    const isManaged = isManagedName(given.column);
    const message = isManaged ? "is managed automatically and cannot be set" : "is not a column of the table";
    return { path: `row.${given.column}`, message };
  });
  const named = new Set(row.map(({ column }) => column));
  const lacking = purpose === "create" ? columns.filter((one) => !one.nullable && one.default === null) : [];
  const issues = [
    ...results.filter((result) => "message" in result),
    ...lacking
      .filter((one) => !named.has(one.name))
      .map((one) => ({ path: `row.${one.name}`, message: "is required" })),
  ];
  return issues.length > 0 ? { issues } : { values: results.filter((result) => "text" in result) };
}
