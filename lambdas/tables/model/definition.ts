import * as z from "zod";
import {
  type ColumnInput,
  type ColumnReply,
  columnType,
  now,
  nowOnUpdate,
  type TableReply,
} from "../../../api/tables.ts";

/** A column as the catalog keeps it; `constraint` names its UNIQUE constraint, which a rename leaves as it is. */
const columnSchema = z.object({
  name: z.string(),
  type: columnType,
  nullable: z.boolean(),
  unique: z.boolean(),
  default: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  comment: z.string().nullable(),
  constraint: z.string().nullable(),
});
export type Column = z.infer<typeof columnSchema>;

/** A table as the catalog keeps it: its own columns, in their order. */
export const definitionSchema = z.object({
  name: z.string(),
  comment: z.string().nullable(),
  columns: z.array(columnSchema),
});
export type Definition = z.infer<typeof definitionSchema>;

const managed = (name: string, type: "integer" | "date", standard: string | null): ColumnReply => ({
  name,
  type,
  nullable: false,
  unique: type === "integer",
  default: standard,
  comment: null,
});
const first = managed("id", "integer", null);
const last = [managed("created_at", "date", now), managed("updated_at", "date", nowOnUpdate)];

function columnReply({ name, type, nullable, unique, default: standard, comment }: Column): ColumnReply {
  return { name, type, nullable, unique, default: standard, comment };
}

/** All columns of a table: the managed ones are first and last (docs/api.md, Columns). */
export function allColumns(definition: Definition): ColumnReply[] {
  return [first, ...definition.columns.map(columnReply), ...last];
}

/** A table as answers show it. */
export function tableReply(definition: Definition): TableReply {
  return { name: definition.name, comment: definition.comment, columns: allColumns(definition) };
}

/** `newName` returns a name that is unique in the database. */
export function newColumn(input: ColumnInput, newName: () => string): Column {
  return { ...input, constraint: input.unique ? newName() : null };
}

/** The columns that an update of their row sets to the current time, unless the update sets them. */
export function onUpdateColumns(columns: Column[]): string[] {
  return columns.filter((column) => column.default === nowOnUpdate).map((column) => column.name);
}
