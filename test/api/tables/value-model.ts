/** The value after its column gets another type, written independently, to compare the service with. */
export type Type = "string" | "text" | "integer" | "float" | "boolean" | "date" | "json";
/** A value of a `json` column is its JSON text, a date its instant. */
export type Value = string | number | boolean | null;

/** A value that does not convert without loss. */
export class Conflict extends Error {}

const decimal = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** A decimal as a fraction of two integers; small exponents only. */
function fractionOf(text: string): { top: bigint; bottom: bigint } | undefined {
  const [, sign, whole = "", digits = "", exponent = "0"] = decimal.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const shift = Number(exponent) - digits.length;
  const top = BigInt(`${sign}${whole}${digits}`);
  return shift >= 0 ? { top: top * 10n ** BigInt(shift), bottom: 1n } : { top, bottom: 10n ** BigInt(-shift) };
}

/** The number that a text means, when JavaScript holds it as it is written. */
function exactNumber(text: string): number | undefined {
  const value = Number(text);
  const written = Number.isFinite(value) ? fractionOf(text) : undefined;
  const held = written && fractionOf(String(value).replace("e+", "e"));
  return written && held && written.top * held.bottom === held.top * written.bottom ? value : undefined;
}

/** Reads JSON strictly: without a repeated key, a rounded number or more than 256 levels. Throws for anything else. */
class JsonReader {
  readonly text: string;
  at = 0;
  constructor(text: string) {
    this.text = text;
  }
  take(pattern: RegExp): string {
    const found = new RegExp(pattern.source, "y");
    found.lastIndex = this.at;
    const [match] = found.exec(this.text) ?? [];
    if (match === undefined) throw new Conflict();
    this.at += match.length;
    return match;
  }
  space(): void {
    this.take(/[ \t\n\r]*/);
  }
  items(end: string, item: () => void): void {
    this.space();
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      item();
      if (this.take(/[,\]}]/) !== ",") break;
    }
    if (this.text[this.at - 1] !== end) throw new Conflict();
  }
  value(depth: number): void {
    if (depth > 256) throw new Conflict();
    this.space();
    const start = this.text[this.at];
    if (start === "[") {
      if (depth === 256) throw new Conflict();
      this.at += 1;
      this.items("]", () => this.value(depth + 1));
    } else if (start === "{") {
      if (depth === 256) throw new Conflict();
      this.at += 1;
      const keys = new Set<string>();
      this.items("}", () => {
        this.space();
        const key: string = JSON.parse(this.take(/"(?:[^"\\]|\\.)*"/));
        if (keys.has(key)) throw new Conflict();
        keys.add(key);
        this.space();
        this.take(/:/);
        this.value(depth + 1);
      });
    } else if (start === '"') this.take(/"(?:[^"\\]|\\.)*"/);
    else if (/[-\d]/.test(start ?? "")) {
      if (exactNumber(this.take(/-?\d[-+.\deE]*/)) === undefined) throw new Conflict();
    } else this.take(/true|false|null/);
    this.space();
  }
}

/** Whether a text is JSON that an answer gives back whole; JSON's null could not be told from no value. */
export function isLosslessJson(text: string): boolean {
  try {
    if (JSON.parse(text) === null) return false;
    new JsonReader(text).value(0);
    return true;
  } catch {
    return false;
  }
}

const instant = /^(\d{4}-\d\d-\d\d)(?:T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?(Z|[-+](?:0\d|1[0-5]):[0-5]\d))?$/;

function instantOf(text: string): string | undefined {
  const [, day] = instant.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00:00Z`);
  if (day === undefined || Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day))
    return undefined;
  const time = new Date(text).toISOString();
  return time >= "0001" && time <= "9999-12-31T23:59:59.999Z" && !/^[-+]/.test(time) ? time : undefined;
}

function fromText(text: string, to: Type): Value | undefined {
  switch (to) {
    case "text":
      return text;
    case "string":
      return [...text].length <= 255 ? text : undefined;
    case "integer":
      return /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case "float":
      return exactNumber(text);
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined;
    case "date":
      return instantOf(text);
    case "json":
      return isLosslessJson(text) ? text : undefined;
  }
}

function fromNumber(value: number, to: Type): Value | undefined {
  switch (to) {
    case "string":
    case "text":
    case "json":
      return String(value);
    case "float":
      return value;
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "boolean":
      return value === 0 || value === 1 ? value === 1 : undefined;
    case "date":
      return undefined;
  }
}

function fromJson(text: string, to: Type): Value | undefined {
  if (to === "string" || to === "text") return fromText(text, to);
  const value: unknown = JSON.parse(text);
  if (to === "date") return typeof value === "string" ? fromText(value, "date") : undefined;
  if (to === "boolean") return typeof value === "boolean" ? value : undefined;
  return typeof value === "number" ? fromNumber(value, to) : undefined;
}

function plain(value: Value, from: Type, to: Type): Value | undefined {
  if (typeof value === "number") return fromNumber(value, to);
  if (typeof value === "boolean") {
    if (to === "integer" || to === "float") return Number(value);
    return to === "date" ? undefined : String(value);
  }
  if (value === null) return null;
  if (from === "json") return fromJson(value, to);
  if (from !== "date") return fromText(value, to);
  if (to === "json") return JSON.stringify(value);
  return to === "string" || to === "text" ? value : undefined;
}

/** The value in a column of the other type; throws `Conflict` when it does not convert without loss. */
export function converted(value: Value, from: Type, to: Type): Value {
  const result = value === null || from === to ? value : plain(value, from, to);
  if (result === undefined) throw new Conflict();
  return result;
}
