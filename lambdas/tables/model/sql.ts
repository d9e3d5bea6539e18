import { createQueryId, PostgresQueryCompiler, type RawBuilder, sql } from "kysely";
import type { ColumnType } from "../../../api/tables.ts";

export type Sql = RawBuilder<unknown>;

class Compiler extends PostgresQueryCompiler {
  readonly #placeholder: (number: number) => string;
  constructor(placeholder: (number: number) => string) {
    super();
    this.#placeholder = placeholder;
  }
  protected override getCurrentParameterPlaceholder(): string {
    return this.#placeholder(this.numParameters);
  }
}

function textOf(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new Error("A statement takes texts; the type of each is cast in the statement");
}

/** Names are quoted and values bound by Kysely, nothing is concatenated; `placeholder` writes the placeholder of a value. */
function compiled(statement: Sql, placeholder: (number: number) => string): { sql: string; values: (string | null)[] } {
  const result = new Compiler(placeholder).compileQuery(statement.toOperationNode(), createQueryId());
  return { sql: result.sql, values: result.parameters.map(textOf) };
}

/** Compiles a statement for the Data API itself, whose parameters are called `:p1`, `:p2`, … */
export function compile(statement: Sql): { sql: string; values: (string | null)[] } {
  return compiled(statement, (number) => `:p${number}`);
}

/** A statement that runs inside a database, as its role. `columns` are those of its result, with their types. */
export interface Query {
  sql: string;
  values: (string | null)[];
  columns: Record<string, "bigint" | "text">;
}

/** Compiles a statement for a database's function `$query_1`, which has the values as one array, `$1`. */
export function query(columns: Query["columns"], statement: Sql): Query {
  return { ...compiled(statement, (number) => `($1)[${number}]`), columns };
}

const systemColumns = new Set(["ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"]);

/** A column's name inside PostgreSQL: unchanged, except for six names that PostgreSQL reserves. User names never contain a $. */
export function physicalName(column: string): string {
  return systemColumns.has(column) ? `${column}$` : column;
}

export function column(name: string): RawBuilder<unknown> {
  return sql.id(physicalName(name));
}

/** PostgreSQL's type for each of ours; `date` keeps milliseconds, as answers do. */
export const physicalTypes: Record<ColumnType, RawBuilder<unknown>> = {
  string: sql`varchar(255)`,
  text: sql`text`,
  integer: sql`bigint`,
  float: sql`double precision`,
  boolean: sql`boolean`,
  date: sql`timestamptz(3)`,
  json: sql`json`,
};

/** The same types without their bounds, for casts: a cast to varchar(255) would truncate without an error. */
export const castTypes: Record<ColumnType, RawBuilder<unknown>> = { ...physicalTypes, string: sql`text` };
