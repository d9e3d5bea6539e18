import type { ColumnInput, ColumnReply, ColumnType, Scalar, TableReply } from "../api/tables.ts";

/** A column in the form. `from` is its present name; undefined for a new column. */
export interface ColumnDraft {
  key: number;
  from: string | undefined;
  name: string;
  type: ColumnType;
  nullable: boolean;
  unique: boolean;
  /** The default as text; undefined for none. */
  default: string | undefined;
  comment: string;
}

export interface TableDraft {
  columns: readonly ColumnDraft[];
  comment: string;
}

const managed: ReadonlySet<string> = new Set(["id", "created_at", "updated_at"]);

/** Whether the service manages a column. */
export const isManaged = (name: string): boolean => managed.has(name);

/** The columns that are not managed by the service. */
export const ownColumns = (table: Pick<TableReply, "columns">) => table.columns.filter(({ name }) => !isManaged(name));

let lastKey = 0;

function draftOf(column: ColumnReply): ColumnDraft {
  lastKey += 1;
  const { name, type, nullable, unique, comment } = column;
  const text = column.default === null ? undefined : String(column.default);
  return { key: lastKey, from: name, name, type, nullable, unique, default: text, comment: comment ?? "" };
}

export const newColumn = (): ColumnDraft => {
  lastKey += 1;
  return {
    key: lastKey,
    from: undefined,
    name: "",
    type: "string",
    nullable: true,
    unique: false,
    default: undefined,
    comment: "",
  };
};

/** The form's content for a table. */
export function tableDraft(table: TableReply): TableDraft {
  return { columns: ownColumns(table).map(draftOf), comment: table.comment ?? "" };
}

/** Parses a default; an invalid text is sent unchanged, so that the service's error explains the rule. */
function defaultOf({ type, default: text }: ColumnDraft): Scalar {
  if (text === undefined) return null;
  switch (type) {
    case "integer":
    case "float":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    default:
      return text;
  }
}

/** A new column in the request's form. */
export function columnInput(column: ColumnDraft): ColumnInput {
  const { name, type, nullable, unique, comment } = column;
  return { name, type, nullable, unique, default: defaultOf(column), comment: comment || null };
}

function modification(column: ColumnDraft, before: ColumnReply) {
  const { name, type, nullable, unique, default: value, comment } = columnInput(column);
  const changed = {
    ...(type !== before.type && { type }),
    ...(nullable !== before.nullable && { nullable }),
    ...(unique !== before.unique && { unique }),
    ...(value !== before.default && { default: value }),
    ...(comment !== before.comment && { comment }),
  };
  return Object.keys(changed).length > 0 ? [{ name, ...changed }] : [];
}

/** The change of a table that a draft asks for (docs/api.md, Changing a table); without fields if it asks for none. */
export function tableChangeOf(table: TableReply, draft: TableDraft) {
  const before = new Map(ownColumns(table).map((column) => [column.name, column]));
  const kept = draft.columns.filter(({ from }) => from !== undefined);
  const added = draft.columns.filter(({ from }) => from === undefined);
  const drop = [...before.keys()].filter((name) => !kept.some(({ from }) => from === name));
  const rename = kept.flatMap(({ from = "", name }) => (from === name ? [] : [{ from, to: name }]));
  const modify = kept.flatMap((column) => {
    const old = before.get(column.from ?? "");
    return old ? modification(column, old) : [];
  });
  const add = added.map(columnInput);
  // Without `order`, the service keeps the order of the columns and appends new ones.
  const names = new Map(kept.map(({ from, name }) => [from, name]));
  const plain = [...[...before.keys()].flatMap((name) => names.get(name) ?? []), ...add.map(({ name }) => name)];
  const order = draft.columns.map(({ name }) => name);
  return {
    ...(drop.length > 0 && { drop }),
    ...(rename.length > 0 && { rename }),
    ...(modify.length > 0 && { modify }),
    ...(add.length > 0 && { add }),
    ...(order.join() !== plain.join() && { order }),
    ...((draft.comment || null) !== table.comment && { comment: draft.comment || null }),
  };
}

/** Moves one column a place earlier or later. */
export function moved(columns: readonly ColumnDraft[], index: number, by: -1 | 1): readonly ColumnDraft[] {
  const column = columns[index];
  const other = columns[index + by];
  if (!column || !other) return columns;
  return columns.map((one, at) => (at === index ? other : at === index + by ? column : one));
}

/** Changes the type of a column, and removes the default and, if the new type does not allow it, `unique`. */
export function withType(column: ColumnDraft, type: ColumnType): ColumnDraft {
  const isPlain = type === "text" || type === "json";
  return { ...column, type, default: undefined, unique: isPlain ? false : column.unique };
}
