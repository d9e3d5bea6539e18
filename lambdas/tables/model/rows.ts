import { sql } from "kysely";
import * as z from "zod";
import { type ColumnType, columnType, type RowReply } from "../../../api/tables.ts";
import type { Statement } from "../../aws/databases.ts";
import { claimRows, type NewClaim } from "./idempotency-statements.ts";
import { framedRows } from "./result-chunks.ts";
import { castTypes, column, compile, physicalName, type Sql } from "./sql.ts";

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

export function listStatement(schema: string, table: string, after: number, limit: number): Statement {
  return framedRows(
    schema,
    table,
    sql`select ${rowId}, ${rowBody} from ${tableId(schema, table)}
      where ${rowId} > ${number(after)} order by ${rowId} limit ${number(limit)}`,
  );
}

export function getStatement(schema: string, table: string, id: number): Statement {
  const page = sql`select ${rowId}, ${rowBody} from ${tableId(schema, table)} where ${rowId} = ${number(id)}`;
  return framedRows(schema, table, page);
}

/** Stores a row, and with it the claim of the request's Idempotency-Key. */
export function insertStatement(schema: string, table: string, values: Assignment[], claim?: NewClaim): Statement {
  const names = sql.join(values.map((one) => column(one.column)));
  const row = values.length === 0 ? sql`default values` : sql`(${names}) values (${sql.join(values.map(castValue))})`;
  const page = sql`insert into ${tableId(schema, table)} ${row} returning ${rowId}, ${rowBody}`;
  return framedRows(schema, table, page, claim && ((rows) => claimRows(schema, claim, rows)));
}

export function updateStatement(schema: string, table: string, id: number, values: Assignment[]): Statement {
  const set = sql.join(values.map((one) => sql`${column(one.column)} = ${castValue(one)}`));
  const page = sql`update ${tableId(schema, table)} set ${set} where ${rowId} = ${number(id)} returning ${rowId}, ${rowBody}`;
  return framedRows(schema, table, page);
}

export function deleteStatement(schema: string, table: string, id: number): Statement {
  return compile(sql`delete from ${tableId(schema, table)} where ${rowId} = ${number(id)} returning ${rowId}`);
}

const headSchema = z.object({
  columns: z.array(z.tuple([z.string(), columnType])),
  found: z.int(),
});

function instant(value: unknown): string {
  return new Date(z.string().parse(value)).toISOString();
}

/** A row as answers show it: every column under its name, in the table's order, instants in UTC with milliseconds. */
function rowReply(columns: [name: string, type: ColumnType][], body: string): RowReply {
  const stored = z.record(z.string(), z.unknown()).parse(JSON.parse(body));
  const own = columns.map(([name, type]): [string, unknown] => {
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

/** Puts the pieces of `framedRows` together; `found` counts the rows of the page, also those that did not fit. */
export function readRows(pieces: { id: number; piece: string }[]): { rows: RowReply[]; found: number } {
  const bodies = new Map<number, string>();
  for (const { id, piece } of pieces) bodies.set(id, (bodies.get(id) ?? "") + piece);
  const head = headSchema.parse(JSON.parse(bodies.get(0) ?? "{}"));
  bodies.delete(0);
  return { rows: [...bodies.values()].map((body) => rowReply(head.columns, body)), found: head.found };
}
