import { sql } from "kysely";
import type { ColumnType, Scalar } from "../../../api/tables.ts";
import { type ChangeStatement, changeStatement, checkStatement, tableId } from "./change-statement.ts";
import { conversion } from "./conversion.ts";
import { type Column, type Definition, onUpdateColumns } from "./definition.ts";
import { innerNames, ownStates } from "./inner-names.ts";
import { rowSizeChecks } from "./row-size-checks.ts";
import { column, physicalName, physicalTypes, type Sql } from "./sql.ts";
import type { Step } from "./steps.ts";

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

function createTrigger(schema: string, table: Sql, onUpdate: string[]): Sql {
  const names = sql.join(onUpdate.map((name) => sql.lit(physicalName(name))));
  return sql`create trigger ${sql.id(innerNames.rowTrigger)} before insert or update on ${table}
    for each row execute function ${sql.id(schema, innerNames.rowTriggerFunction)}(${names})`;
}

/** The statements that create a table; `newName` returns a name that is unique in the database. */
export function createStatements(schema: string, definition: Definition, newName: () => string): ChangeStatement[] {
  const table = tableId(schema, definition.name);
  const columns = [
    sql`id bigint generated always as identity (sequence name ${sql.id(schema, newName())})
      constraint ${sql.id(newName())} primary key`,
    ...definition.columns.map(columnDefinition),
    sql`created_at timestamptz(3) not null default current_timestamp`,
    sql`updated_at timestamptz(3) not null default current_timestamp`,
  ];
  return [
    changeStatement("", sql`create table ${table} (${sql.join(columns)})`),
    changeStatement("", createTrigger(schema, table, onUpdateColumns(definition.columns))),
    ...(definition.comment === null
      ? []
      : [changeStatement("comment", sql`comment on table ${table} is ${sql.lit(definition.comment)}`)]),
    ...definition.columns
      .filter((one) => one.comment !== null)
      .map((one) => changeStatement("columns", commentOnColumn(table, one.name, one.comment))),
  ];
}

function conversionStatements(schema: string, table: Sql, step: Extract<Step, { do: "convert" }>): ChangeStatement[] {
  const value = column(step.column);
  const { fits, to } = conversion(schema, sql`${value}`, step.from, step.to);
  const misfit = sql`${value} is not null and (${fits}) is not true`;
  const type = physicalTypes[step.to];
  return [
    checkStatement(step.path, sql`select id from ${table} where ${misfit} limit 1`, ownStates.valueInTheWay),
    changeStatement(step.path, sql`alter table ${table} alter column ${value} drop default`),
    changeStatement(
      step.path,
      sql`alter table ${table} alter column ${value} type ${type} using cast(${to} as ${type})`,
    ),
    ...(step.default === null
      ? []
      : [
          changeStatement(
            step.path,
            sql`alter table ${table} alter column ${value} set default ${defaultOf(step.to, step.default)}`,
          ),
        ]),
  ];
}

/** Columns that swap their names are first renamed to names that are invalid for users. */
function renameStatements(table: Sql, step: Extract<Step, { do: "rename columns" }>): ChangeStatement[] {
  const one = (from: string, to: string) =>
    changeStatement(step.path, sql`alter table ${table} rename column ${sql.id(from)} to ${sql.id(to)}`);
  const between = (index: number) => `$${index}`;
  const crossing = step.renames.some(({ to }) => step.renames.some(({ from }) => from === to));
  if (!crossing) return step.renames.map(({ from, to }) => one(physicalName(from), physicalName(to)));
  return [
    ...step.renames.map(({ from }, index) => one(physicalName(from), between(index))),
    ...step.renames.map(({ to }, index) => one(between(index), physicalName(to))),
  ];
}

function statementsOf(schema: string, table: Sql, step: Step): ChangeStatement[] {
  const alter = (name: string, change: Sql) =>
    changeStatement(step.path, sql`alter table ${table} alter column ${column(name)} ${change}`);
  switch (step.do) {
    case "drop column":
      return [changeStatement(step.path, sql`alter table ${table} drop column ${column(step.column)}`)];
    case "rename columns":
      return renameStatements(table, step);
    case "convert":
      return conversionStatements(schema, table, step);
    case "set nullable":
      return [alter(step.column, step.nullable ? sql`drop not null` : sql`set not null`)];
    case "add unique": {
      const constraint = sql`add constraint ${sql.id(step.constraint)} unique (${column(step.column)})`;
      return [changeStatement(step.path, sql`alter table ${table} ${constraint}`)];
    }
    case "drop unique":
      return [changeStatement(step.path, sql`alter table ${table} drop constraint ${sql.id(step.constraint)}`)];
    case "set default":
      if (step.default === null) return [alter(step.column, sql`drop default`)];
      return [alter(step.column, sql`set default ${defaultOf(step.type, step.default)}`)];
    case "comment column":
      return [changeStatement(step.path, commentOnColumn(table, step.column, step.comment))];
    case "add column":
      return [
        changeStatement(step.path, sql`alter table ${table} add column ${columnDefinition(step.column)}`),
        ...(step.column.comment === null
          ? []
          : [changeStatement(step.path, commentOnColumn(table, step.column.name, step.column.comment))]),
      ];
    case "order":
      return [];
    case "comment table":
      return [changeStatement(step.path, sql`comment on table ${table} is ${sql.lit(step.comment)}`)];
    case "set on update":
      return [
        changeStatement(step.path, sql`drop trigger ${sql.id(innerNames.rowTrigger)} on ${table}`),
        changeStatement(step.path, createTrigger(schema, table, step.columns)),
      ];
  }
}

/** The statements of a planned change. They hold an exclusive lock on the table. */
export function changeStatements(
  schema: string,
  tableName: string,
  { steps, definition }: { steps: Step[]; definition: Definition },
): ChangeStatement[] {
  const table = tableId(schema, tableName);
  const statements = steps.flatMap((step) => statementsOf(schema, table, step));
  if (statements.length === 0) return [];
  const lock = changeStatement("", sql`lock table ${table} in access exclusive mode`);
  return [lock, ...statements, ...rowSizeChecks(table, steps, definition.columns)];
}

export function dropStatements(schema: string, tableName: string): ChangeStatement[] {
  return [changeStatement("", sql`drop table ${tableId(schema, tableName)}`)];
}
