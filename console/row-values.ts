import type { ColumnType } from "../api/tables.ts";

/** A value in the form: its text, or null. */
export type CellDraft = string | null;

/** A value of a row as text to edit. */
export function cellText(value: unknown): CellDraft {
  if (value === null || value === undefined) return null;
  return typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** A value of a row in one line, for the list. */
export function cellLine(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** A canonical form of a decimal number: equal values give the same text, such as "12.50e1" → "125e0". */
function canonical(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return "0";
  return `${sign}${trimmed}e${Number(exponent) - fraction.length + digits.length - trimmed.length}`;
}

/** The first number of a JSON text that JavaScript would round; undefined if all are exact. */
export function roundedNumber(json: string): string | undefined {
  const outsideOfTexts = json.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  const numbers = outsideOfTexts.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g) ?? [];
  return numbers.find(
    (number) => !Number.isFinite(Number(number)) || canonical(number) !== canonical(String(Number(number))),
  );
}

/** Parses a text as a column's value, or says why it is invalid. The service checks all other rules. */
export function cellValue(type: ColumnType, draft: CellDraft): { value: unknown } | { message: string } {
  if (draft === null) return { value: null };
  switch (type) {
    case "integer":
      return /^-?\d+$/.test(draft.trim()) && Number.isSafeInteger(Number(draft))
        ? { value: Number(draft) }
        : { message: "It must be an integer from -9007199254740991 to 9007199254740991." };
    case "float":
      return draft.trim() !== "" && Number.isFinite(Number(draft))
        ? { value: Number(draft) }
        : { message: "It must be a number." };
    case "boolean":
      return { value: draft === "true" };
    case "json":
      return jsonValue(draft);
    case "string":
    case "text":
    case "date":
      return { value: draft };
  }
}

function jsonValue(text: string): { value: unknown } | { message: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: 'It must be JSON, such as {"a": 1} or [1, 2].' };
  }
  const rounded = roundedNumber(text);
  return rounded === undefined ? { value } : { message: `The number ${rounded} would be rounded. Write it as a text.` };
}
