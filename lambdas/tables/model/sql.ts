import { createQueryId, PostgresQueryCompiler, type RawBuilder, sql } from "kysely";
import type { ColumnType } from "../../../api/tables.ts";
import type { Statement } from "../../aws/databases.ts";

export type Sql = RawBuilder<unknown>;

class DataApiCompiler extends PostgresQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return `:p${this.numParameters}`;
  }
}

function textOf(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  throw new Error("A statement takes texts; the type of each is cast in the statement");
}

/** Compiles a statement; names are quoted and values bound by Kysely, nothing is concatenated. */
export function compile(statement: Sql): Statement {
  const compiled = new DataApiCompiler().compileQuery(statement.toOperationNode(), createQueryId());
  return { sql: compiled.sql, values: compiled.parameters.map(textOf) };
}

const systemColumns = new Set(["ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"]);

/** A column's name inside PostgreSQL: its own, but for the six that PostgreSQL keeps for itself. No user name holds a $. */
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

/** The same types without their bounds, for casts: a cast to varchar(255) would cut in silence. */
export const castTypes: Record<ColumnType, RawBuilder<unknown>> = { ...physicalTypes, string: sql`text` };
