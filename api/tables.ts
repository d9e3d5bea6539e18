import * as z from "zod";
import { cursor, isStorableText, lengthOf, pageLimit, timestamp } from "./common.ts";
import { route } from "./route.ts";

/** The PostgreSQL database that the cluster is made with; each database of an organization is a schema in it. */
export const databaseName = "slipway";

/** PostgreSQL ends a statement that takes longer. Shorter than a function's time, so that the caller gets an answer. */
export const statementSecondsMax = 20;

/** The limits of docs/api.md, Tables. Lengths are in Unicode code points. */
export const tableLimits = {
  nameLengthMax: 63,
  columnsMax: 200,
  stringLengthMax: 255,
  commentLengthMax: 1024,
  rowBytesMax: 400_000,
  jsonDepthMax: 256,
  rowsPageMax: 200,
  rowsPageDefault: 50,
} as const;

export const columnType = z.enum(["string", "text", "integer", "float", "boolean", "date", "json"]);
export type ColumnType = z.infer<typeof columnType>;

export const managedNames = ["id", "created_at", "updated_at"] as const;
export const now = "CURRENT_TIMESTAMP";
export const nowOnUpdate = "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";

/** Whether a name is one of the three columns that the service manages, in whatever case (docs/api.md, Columns). */
export function isManagedName(name: string): boolean {
  return managedNames.some((managed) => managed === name.toLowerCase());
}

const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Whether a text can be the name of a table or column. If not, no such table exists and no look-up is needed. */
export function isTableName(text: string): boolean {
  return text.length <= tableLimits.nameLengthMax && namePattern.test(text);
}

const name = z
  .string({ error: "must be a string" })
  .max(tableLimits.nameLengthMax, { error: `must have at most ${tableLimits.nameLengthMax} characters` })
  .regex(namePattern, { error: "must contain only letters, digits and underscores, and begin with a letter" })
  .meta({ id: "Name" });

const ownName = name.refine((text) => !isManagedName(text), { error: "is managed automatically and cannot be named" });

const comment = z
  .string({ error: "must be a string or null" })
  .refine((text) => lengthOf(text) <= tableLimits.commentLengthMax, {
    error: `must have at most ${tableLimits.commentLengthMax} characters`,
  })
  .refine(isStorableText, { error: "must be well-formed Unicode without NUL" })
  .nullable();

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: "must be a string, a number, true, false or null; a text or json column has none",
});
export type Scalar = z.infer<typeof scalar>;

const flag = z.boolean({ error: "must be true or false" });

/** The message for an unknown field, and for a value that is no object. A misspelled field must not silently change a schema (docs/api.md, Requests and answers). */
function strictly(known: string) {
  return (issue: { code?: string | undefined; keys?: readonly string[] }) =>
    issue.code === "unrecognized_keys"
      ? `has no field ${issue.keys?.join(", ")}; its fields are ${known}`
      : `must be an object with ${known}`;
}

const typeField = z.enum(columnType.options, { error: `must be one of ${columnType.options.join(", ")}` });

const columnInput = z
  .strictObject(
    {
      name: ownName,
      type: typeField,
      nullable: flag.default(true),
      unique: flag.default(false),
      default: scalar.default(null),
      comment: comment.default(null),
    },
    { error: strictly("name, type, nullable, unique, default and comment") },
  )
  .superRefine((column, context) => {
    for (const { path, message } of columnIssues(column)) {
      context.addIssue({ code: "custom", path: [path], message });
    }
  });
export type ColumnInput = z.output<typeof columnInput>;

const modification = z.strictObject(
  {
    name: ownName,
    type: typeField.optional(),
    nullable: flag.optional(),
    unique: flag.optional(),
    default: scalar.optional(),
    comment: comment.optional(),
  },
  { error: strictly("name, type, nullable, unique, default and comment") },
);
export type Modification = z.output<typeof modification>;

/** The rules of docs/api.md, Columns, that the fields of one column break; `path` is the field at fault. */
export function columnIssues(column: Pick<ColumnInput, "type" | "unique" | "default">) {
  const issues: { path: "unique" | "default"; message: string }[] = [];
  const plain = column.type === "text" || column.type === "json";
  if (plain && column.unique) issues.push({ path: "unique", message: `is not possible on a ${column.type} column` });
  if (column.default === null) return issues;
  if (plain) issues.push({ path: "default", message: `is not possible on a ${column.type} column` });
  else if (!fitsType(column.type, column.default)) {
    issues.push({ path: "default", message: defaultRules[column.type] });
  }
  return issues;
}

const defaultRules: Record<ColumnType, string> = {
  string: `must be a string of at most ${tableLimits.stringLengthMax} characters without NUL`,
  integer: "must be an integer from -9007199254740991 to 9007199254740991",
  float: "must be a finite number",
  boolean: "must be true or false",
  date: `must be ${now} or ${nowOnUpdate}`,
  text: "is not possible on a text column",
  json: "is not possible on a json column",
};

function fitsType(type: ColumnType, value: Scalar): boolean {
  switch (type) {
    case "string":
      return typeof value === "string" && lengthOf(value) <= tableLimits.stringLengthMax && isStorableText(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "float":
      return Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "date":
      return value === now || value === nowOnUpdate;
    case "text":
    case "json":
      return false;
  }
}

/** Adds an issue for each name that is in the list twice, regardless of case (docs/api.md, Columns). */
function distinct<T>(nameOf: (item: T) => string, field: string) {
  return (items: T[], context: z.RefinementCtx<T[]>) => {
    const seen = new Set<string>();
    for (const [index, item] of items.entries()) {
      const folded = nameOf(item).toLowerCase();
      if (seen.has(folded)) {
        const path = field === "" ? [index] : [index, field];
        context.addIssue({
          code: "custom",
          path,
          message: "is named twice; names that differ only in case count as the same",
        });
      }
      seen.add(folded);
    }
  };
}

const list = <T extends z.ZodType>(item: T) =>
  z.array(item, { error: "must be a list" }).max(tableLimits.columnsMax, {
    error: `must have at most ${tableLimits.columnsMax} columns`,
  });

const newTable = z.strictObject(
  {
    name,
    comment: comment.default(null),
    columns: list(columnInput)
      .superRefine(distinct((column) => column.name, "name"))
      .default([]),
  },
  { error: strictly("name, comment and columns") },
);
export type NewTable = z.output<typeof newTable>;

const renaming = z.strictObject({ from: ownName, to: ownName }, { error: strictly("from and to") });

const tableChange = z.strictObject(
  {
    drop: list(ownName)
      .superRefine(distinct((column) => column, ""))
      .default([]),
    rename: list(renaming)
      .superRefine(distinct((one) => one.from, "from"))
      .superRefine(distinct((one) => one.to, "to"))
      .default([]),
    modify: list(modification)
      .superRefine(distinct((column) => column.name, "name"))
      .default([]),
    add: list(columnInput)
      .superRefine(distinct((column) => column.name, "name"))
      .default([]),
    order: list(ownName)
      .superRefine(distinct((column) => column, ""))
      .optional(),
    comment: comment.optional(),
  },
  { error: strictly("drop, rename, modify, add, order and comment") },
);
export type TableChange = z.output<typeof tableChange>;

const column = z.object({
  name: z.string(),
  type: columnType,
  nullable: z.boolean(),
  unique: z.boolean(),
  default: scalar,
  comment: z.string().nullable(),
});
export type ColumnReply = z.infer<typeof column>;
const table = z.object({ name: z.string(), comment: z.string().nullable(), columns: z.array(column) });
export type TableReply = z.infer<typeof table>;

/** A row holds every column of its table under the column's name; the managed ones have known types. */
const row = z.looseObject({ id: z.int(), created_at: timestamp(), updated_at: timestamp() });
export type RowReply = z.infer<typeof row>;

/** The named values of a row. z.record() would drop a `__proto__` in silence, where any unknown column is refused. */
const rowValues = z
  .unknown()
  .transform((value, context): [column: string, value: unknown][] => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
    context.addIssue({ code: "custom", message: "must be an object of column values" });
    return z.NEVER;
  })
  .meta({ type: "object" });

const rowInput = z.object({ row: rowValues });

const tables = "/organizations/{orgId}/databases/{dbId}/tables" as const;

export const listTables = route("list-tables", `GET ${tables}`, {
  summary: "The tables of the database, oldest first, with all columns.",
  tool: { name: "list_tables", description: "The tables of a database with their columns." },
  reply: () => z.object({ tables: z.array(table) }),
  status: 200,
  errors: ["database_resuming"],
  uses: ["table:read", "databases:run"],
});

export const createTable = route("create-table", `POST ${tables}`, {
  summary: "Creates a table; id, created_at and updated_at are added to its columns.",
  event: "around",
  body: () => newTable,
  reply: () => z.object({ table }),
  status: 201,
  errors: ["table_exists", "database_resuming", "idempotency_mismatch"],
  uses: ["table:read", "table:write", "databases:run"],
});

export const updateTable = route("update-table", `PUT ${tables}/{tableName}`, {
  summary: "Changes a table, all or nothing: drop, rename, modify, add, order and comment, in this order.",
  event: "around",
  query: () => z.object({ dryRun: z.enum(["true", "false"], { error: "must be true or false" }).optional() }),
  body: () => tableChange,
  reply: () => z.object({ table, plan: z.array(z.string()).optional(), destructive: z.boolean().optional() }),
  status: 200,
  errors: ["column_exists", "data_conflict", "limit_reached", "database_resuming"],
  uses: ["table:read", "databases:run"],
});

export const deleteTable = route("delete-table", `DELETE ${tables}/{tableName}`, {
  event: "around",
  summary: "Deletes the table and its rows permanently.",
  reply: () => z.object({ table: z.string() }),
  status: 200,
  errors: ["database_resuming"],
  uses: ["table:read", "databases:run"],
});

const rows = `${tables}/{tableName}/rows` as const;

/** Rows are the apps' own data, written as often as the apps like (ADR 0019). */
const rowEvents = { none: "Rows are the apps' own data." } as const;

export const listRows = route("list-rows", `GET ${rows}`, {
  summary: "The rows of the table by id; a page of large rows may hold fewer than its limit.",
  query: () => z.object({ limit: pageLimit(tableLimits.rowsPageMax, tableLimits.rowsPageDefault), cursor: cursor() }),
  tool: { name: "read_rows", description: "The rows of a table by id." },
  reply: () => z.object({ rows: z.array(row), nextCursor: z.string().nullable() }),
  status: 200,
  errors: ["database_resuming"],
  uses: ["table:read", "databases:run"],
});

export const createRow = route("create-row", `POST ${rows}`, {
  event: rowEvents,
  summary: "Stores a row; columns that are not named get their default.",
  body: () => rowInput,
  reply: () => z.object({ row }),
  status: 201,
  errors: ["data_conflict", "database_resuming", "idempotency_mismatch"],
  uses: ["table:read", "table:write", "databases:run"],
});

export const getRow = route("get-row", `GET ${rows}/{rowId}`, {
  summary: "One row.",
  reply: () => z.object({ row }),
  status: 200,
  errors: ["database_resuming"],
  uses: ["table:read", "databases:run"],
});

export const updateRow = route("update-row", `PUT ${rows}/{rowId}`, {
  summary: "Changes the named columns of a row.",
  event: rowEvents,
  body: () => rowInput,
  reply: () => z.object({ row }),
  status: 200,
  errors: ["data_conflict", "database_resuming"],
  uses: ["table:read", "databases:run"],
});

export const deleteRow = route("delete-row", `DELETE ${rows}/{rowId}`, {
  event: rowEvents,
  summary: "Deletes a row permanently.",
  reply: () => z.object({ row: z.int() }),
  status: 200,
  errors: ["database_resuming"],
  uses: ["table:read", "databases:run"],
});
