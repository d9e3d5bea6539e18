import { sql } from "kysely";
import * as z from "zod";
import { type ColumnType, columnType, type RowReply } from "../../../api/tables.ts";
import { notFound } from "../../http/problem.ts";
import { type NewRecord, recordRows } from "./idempotency-statements.ts";
import { rowsQuery } from "./result-chunks.ts";
import { castTypes, column, physicalName, type Query, query, type Sql } from "./sql.ts";

/** A value for a column of a row, as text of the column's type. */
export interface Assignment {
  column: string;
  type: ColumnType;
  text: string | null;
}

/** `$r` names the row as a whole; no column of a user's can have that name, so nothing can hide it. */
const alias = sql.id("$r");
const rowId = sql`${alias}.id`;
const rowBody = sql`cast(row_to_json(${alias}) as text) as body`;

const tableId = (schema: string, table: string): Sql => sql`${sql.id(schema, table)} as ${alias}`;
const number = (value: number): Sql => sql`cast(${String(value)} as bigint)`;
const castValue = ({ type, text }: Assignment): Sql => sql`cast(${text} as ${castTypes[type]})`;

export function listQuery(schema: string, table: string, after: number, limit: number): Query {
  return rowsQuery(
    schema,
    table,
    sql`select ${rowId}, ${rowBody} from ${tableId(schema, table)}
      where ${rowId} > ${number(after)} order by ${rowId} limit ${number(limit)}`,
  );
}

export function getQuery(schema: string, table: string, id: number): Query {
  const page = sql`select ${rowId}, ${rowBody} from ${tableId(schema, table)} where ${rowId} = ${number(id)}`;
  return rowsQuery(schema, table, page);
}

/** Stores a row, and with it the record of the request's Idempotency-Key. */
export function insertQuery(schema: string, table: string, values: Assignment[], record?: NewRecord): Query {
  const names = sql.join(values.map((one) => column(one.column)));
  const row = values.length === 0 ? sql`default values` : sql`(${names}) values (${sql.join(values.map(castValue))})`;
  const page = sql`insert into ${tableId(schema, table)} ${row} returning ${rowId}, ${rowBody}`;
  return rowsQuery(schema, table, page, record && ((rows) => recordRows(schema, record, rows)));
}

export function updateQuery(schema: string, table: string, id: number, values: Assignment[]): Query {
  const set = sql.join(values.map((one) => sql`${column(one.column)} = ${castValue(one)}`));
  const page = sql`update ${tableId(schema, table)} set ${set} where ${rowId} = ${number(id)} returning ${rowId}, ${rowBody}`;
  return rowsQuery(schema, table, page);
}

export function deleteQuery(schema: string, table: string, id: number): Query {
  return query(
    { id: "bigint" },
    sql`delete from ${tableId(schema, table)} where ${rowId} = ${number(id)} returning ${rowId}`,
  );
}

/** The header of a page of rows: the table's number in the catalog, its columns, and the number of rows. */
const headSchema = z.object({
  table: z.int(),
  columns: z.array(z.object({ name: z.string(), type: columnType })),
  found: z.int(),
});

/** Rows of a table. `table` is its unique number; `found` also counts rows that did not fit. */
export interface RowPage {
  table: number;
  rows: RowReply[];
  found: number;
}

function instant(value: unknown): string {
  return new Date(z.string().parse(value)).toISOString();
}

/** A row as answers show it: every column under its name, in the table's order, instants in UTC with milliseconds. */
function rowReply(columns: { name: string; type: ColumnType }[], body: string): RowReply {
  const stored = z.record(z.string(), z.unknown()).parse(JSON.parse(body));
  const own = columns.map(({ name, type }): [string, unknown] => {
    const value = stored[physicalName(name)] ?? null;
    return [name, type === "date" && value !== null ? instant(value) : value];
  });
  return {
    id: z.int().parse(stored.id),
    ...Object.fromEntries(own),
    created_at: instant(stored.created_at),
    updated_at: instant(stored.updated_at),
  };
}

/** Puts the chunks of `rowsQuery` together; throws 404 when the catalog does not have the table. */
export function readRows(chunks: { id: number; chunk: string }[]): RowPage {
  const bodies = new Map<number, string>();
  for (const { id, chunk } of chunks) bodies.set(id, (bodies.get(id) ?? "") + chunk);
  const first = bodies.get(0);
  if (first === undefined) throw notFound();
  bodies.delete(0);
  const { table, columns, found } = headSchema.parse(JSON.parse(first));
  return { table, rows: [...bodies.values()].map((body) => rowReply(columns, body)), found };
}
