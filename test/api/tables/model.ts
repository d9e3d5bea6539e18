import { Conflict, converted, type Type, type Value } from "./value-model.ts";

/** A table in memory, with the rules of the interface written down independently, to compare the service with. */
export interface ModelColumn {
  name: string;
  type: Type;
  nullable: boolean;
  unique: boolean;
  default: Value;
  comment: string | null;
}
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

/** The table after a change, or `undefined` if existing data prevent it. */
export function apply(model: Model, change: Change): Model | undefined {
  try {
    return applied(model, change);
  } catch (error) {
    if (error instanceof Conflict) return undefined;
    throw error;
  }
}
