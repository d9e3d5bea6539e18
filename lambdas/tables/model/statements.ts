import { sql } from "kysely";
import type { ColumnType, Scalar } from "../../../api/tables.ts";
import { conversion } from "./conversion.ts";
import { type Column, type Definition, touchedColumns } from "./definition.ts";
import { column, compile, physicalName, physicalTypes, type Sql } from "./sql.ts";
import type { Step } from "./steps.ts";

/** One statement of a change. A `check` must find no row; the id that it finds is the one in the way. */
export interface Act {
  sql: string;
  check: boolean;
  path: string;
}

/** Names of what belongs to a database; with a `$`, which no name of a user's has. */
export const catalogTable = "$tables";
export const claimTable = "$claims";
export const changeFunction = "$change_1";
export const rowFunction = "$row_1";
const rowTrigger = "$row";

const tableId = (schema: string, table: string): Sql => sql`${sql.id(schema, table)}`;

/** Definitions take no parameters: each statement of a change stands for itself. */
export function act(path: string, statement: Sql, check = false): Act {
  const compiled = compile(statement);
  if (compiled.values.length > 0) throw new Error("A definition must not hold parameters");
  return { sql: compiled.sql, check, path };
}

function defaultOf(type: ColumnType, value: Scalar): Sql {
  return type === "date" ? sql`current_timestamp` : sql`${sql.lit(value)}`;
}

function columnDefinition(one: Column): Sql {
  const parts = [
    sql`${column(one.name)} ${physicalTypes[one.type]}`,
    ...(one.nullable ? [] : [sql`not null`]),
    ...(one.default === null ? [] : [sql`default ${defaultOf(one.type, one.default)}`]),
    ...(one.constraint === null ? [] : [sql`constraint ${sql.id(one.constraint)} unique`]),
  ];
  return sql`${sql.join(parts, sql` `)}`;
}

function commentOnColumn(table: Sql, name: string, comment: string | null): Sql {
  return sql`comment on column ${table}.${column(name)} is ${sql.lit(comment)}`;
}

function createTrigger(schema: string, table: Sql, touched: string[]): Sql {
  const names = sql.join(touched.map((name) => sql.lit(physicalName(name))));
  return sql`create trigger ${sql.id(rowTrigger)} before insert or update on ${table}
    for each row execute function ${sql.id(schema, rowFunction)}(${names})`;
}

/** The statements that make a table; `newName` gives a name that nothing in the database has yet. */
export function createStatements(schema: string, definition: Definition, newName: () => string): Act[] {
  const table = tableId(schema, definition.name);
  const columns = [
    sql`id bigint generated always as identity (sequence name ${sql.id(schema, newName())})
      constraint ${sql.id(newName())} primary key`,
    ...definition.columns.map(columnDefinition),
    sql`created_at timestamptz(3) not null default current_timestamp`,
    sql`updated_at timestamptz(3) not null default current_timestamp`,
  ];
  return [
    act("", sql`create table ${table} (${sql.join(columns)})`),
    act("", createTrigger(schema, table, touchedColumns(definition.columns))),
    ...(definition.comment === null
      ? []
      : [act("comment", sql`comment on table ${table} is ${sql.lit(definition.comment)}`)]),
    ...definition.columns
      .filter((one) => one.comment !== null)
      .map((one) => act("columns", commentOnColumn(table, one.name, one.comment))),
  ];
}

function convertActs(table: Sql, step: Extract<Step, { do: "convert" }>): Act[] {
  const value = column(step.column);
  const { fits, to } = conversion(sql`${value}`, step.from, step.to);
  const type = physicalTypes[step.to];
  return [
    act(step.path, sql`select id from ${table} where ${value} is not null and (${fits}) is not true limit 1`, true),
    act(step.path, sql`alter table ${table} alter column ${value} drop default`),
    act(step.path, sql`alter table ${table} alter column ${value} type ${type} using cast(${to} as ${type})`),
    ...(step.default === null
      ? []
      : [
          act(
            step.path,
            sql`alter table ${table} alter column ${value} set default ${defaultOf(step.to, step.default)}`,
          ),
        ]),
  ];
}

/** Columns that change names with each other meet half-way, under names that no user can give. */
function renameActs(table: Sql, step: Extract<Step, { do: "rename columns" }>): Act[] {
  const one = (from: string, to: string) =>
    act(step.path, sql`alter table ${table} rename column ${sql.id(from)} to ${sql.id(to)}`);
  const between = (index: number) => `$${index}`;
  const crossing = step.renames.some(({ to }) => step.renames.some(({ from }) => from === to));
  if (!crossing) return step.renames.map(({ from, to }) => one(physicalName(from), physicalName(to)));
  return [
    ...step.renames.map(({ from }, index) => one(physicalName(from), between(index))),
    ...step.renames.map(({ to }, index) => one(between(index), physicalName(to))),
  ];
}

function actsOf(schema: string, table: Sql, step: Step): Act[] {
  const alter = (name: string, change: Sql) =>
    act(step.path, sql`alter table ${table} alter column ${column(name)} ${change}`);
  switch (step.do) {
    case "drop column":
      return [act(step.path, sql`alter table ${table} drop column ${column(step.column)}`)];
    case "rename columns":
      return renameActs(table, step);
    case "convert":
      return convertActs(table, step);
    case "set nullable":
      return [alter(step.column, step.nullable ? sql`drop not null` : sql`set not null`)];
    case "add unique": {
      const constraint = sql`add constraint ${sql.id(step.constraint)} unique (${column(step.column)})`;
      return [act(step.path, sql`alter table ${table} ${constraint}`)];
    }
    case "drop unique":
      return [act(step.path, sql`alter table ${table} drop constraint ${sql.id(step.constraint)}`)];
    case "set default":
      if (step.default === null) return [alter(step.column, sql`drop default`)];
      return [alter(step.column, sql`set default ${defaultOf(step.type, step.default)}`)];
    case "comment column":
      return [act(step.path, commentOnColumn(table, step.column, step.comment))];
    case "add column":
      return [
        act(step.path, sql`alter table ${table} add column ${columnDefinition(step.column)}`),
        ...(step.column.comment === null
          ? []
          : [act(step.path, commentOnColumn(table, step.column.name, step.column.comment))]),
      ];
    case "order":
      return [];
    case "comment table":
      return [act(step.path, sql`comment on table ${table} is ${sql.lit(step.comment)}`)];
    case "touch on update":
      return [
        act(step.path, sql`drop trigger ${sql.id(rowTrigger)} on ${table}`),
        act(step.path, createTrigger(schema, table, step.columns)),
      ];
  }
}

/** The statements of a change, which hold the table for themselves from the first to the last. */
export function changeStatements(schema: string, tableName: string, steps: Step[]): Act[] {
  const table = tableId(schema, tableName);
  const acts = steps.flatMap((step) => actsOf(schema, table, step));
  return acts.length === 0 ? [] : [act("", sql`lock table ${table} in access exclusive mode`), ...acts];
}

export function dropStatements(schema: string, tableName: string): Act[] {
  return [act("", sql`drop table ${tableId(schema, tableName)}`)];
}

/** The one statement that runs a change, all or nothing; its answer is JSON. */
export function callStatement(change: {
  schema: string;
  name: string;
  version: number;
  definition: Definition | null;
  acts: Act[];
  dryRun?: boolean;
}): Sql {
  const acts = change.acts.map(({ sql: text, check }) => ({ sql: text, check }));
  const definition = change.definition === null ? null : JSON.stringify(change.definition);
  return sql`select ${sql.id(change.schema, changeFunction)}(
    ${change.name}, ${sql.lit(change.version)}, ${definition}, ${JSON.stringify(acts)}, ${sql.lit(change.dryRun ?? false)})`;
}
