/** A table in memory, with the rules of the contract written down a second time: what the service is compared with. */
export type Type = "string" | "text" | "integer" | "float" | "boolean" | "date" | "json";
export type Value = string | number | boolean | null;

export interface ModelColumn {
  name: string;
  type: Type;
  nullable: boolean;
  unique: boolean;
  default: Value;
  comment: string | null;
}
/** A value of a `json` column is its JSON text. */
export interface Model {
  comment: string | null;
  columns: ModelColumn[];
  rows: Record<string, Value>[];
}
export interface Change {
  drop: string[];
  rename: { from: string; to: string }[];
  modify: (Partial<ModelColumn> & { name: string })[];
  add: ModelColumn[];
  order?: string[];
  comment?: string | null;
}

class Conflict extends Error {}

const isInteger = (text: string) => /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text));
const isFloat = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/i.test(text) && Number.isFinite(Number(text));

function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== null;
  } catch {
    return false;
  }
}

function fromText(text: string, to: Type): Value {
  if (to === "text" || (to === "string" && [...text].length <= 255)) return text;
  if (to === "integer" && isInteger(text)) return Number(text);
  if (to === "float" && isFloat(text)) return Number(text);
  if (to === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (to === "date" && /^\d{4}-\d\d-\d\d(T.*Z)?$/.test(text)) return new Date(text).toISOString();
  if (to === "json" && isJson(text)) return text;
  throw new Conflict();
}

function converted(value: Value, from: Type, to: Type): Value {
  if (value === null || from === to) return value;
  if (typeof value === "number") {
    if (to === "string" || to === "text" || to === "json") return String(value);
    if (to === "float" || (to === "integer" && Number.isInteger(value))) return value;
    if (to === "boolean" && (value === 0 || value === 1)) return value === 1;
    throw new Conflict();
  }
  if (typeof value === "boolean") {
    if (to === "string" || to === "text" || to === "json") return String(value);
    if (to === "integer" || to === "float") return Number(value);
    throw new Conflict();
  }
  if (from === "date") {
    if (to === "json") return JSON.stringify(value);
    if (to === "string" || to === "text") return value;
    throw new Conflict();
  }
  if (from === "json" && to === "date") {
    const inner: unknown = JSON.parse(value);
    if (typeof inner === "string") return fromText(inner, "date");
    throw new Conflict();
  }
  return fromText(value, to);
}

function check(column: ModelColumn, rows: Model["rows"]): void {
  const values = rows.map((row) => row[column.name] ?? null);
  if (!column.nullable && values.includes(null)) throw new Conflict();
  const held = values.filter((value) => value !== null);
  if (column.unique && new Set(held).size < held.length) throw new Conflict();
}

function applied(model: Model, change: Change): Model {
  const kept = model.columns.filter((column) => !change.drop.includes(column.name));
  const nameOf = (name: string) => change.rename.find(({ from }) => from === name)?.to ?? name;
  let rows = model.rows.map((row) => Object.fromEntries(kept.map(({ name }) => [nameOf(name), row[name] ?? null])));
  let columns = kept.map((column) => ({ ...column, name: nameOf(column.name) }));
  for (const wanted of change.modify) {
    columns = columns.map((column) => {
      if (column.name !== wanted.name) return column;
      const after = { ...column, ...wanted };
      rows = rows.map((row) => ({
        ...row,
        [column.name]: converted(row[column.name] ?? null, column.type, after.type),
      }));
      check(after, rows);
      return after;
    });
  }
  for (const column of change.add) {
    rows = rows.map((row) => ({ ...row, [column.name]: column.default }));
    check(column, rows);
    columns = [...columns, column];
  }
  const { order } = change;
  if (order) columns = columns.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  return { comment: change.comment === undefined ? model.comment : change.comment, columns, rows };
}

/** The table after a change, or `undefined` when data stand in its way. */
export function apply(model: Model, change: Change): Model | undefined {
  try {
    return applied(model, change);
  } catch (error) {
    if (error instanceof Conflict) return undefined;
    throw error;
  }
}
