import { columnIssues, type Modification, type TableChange, tableLimits } from "../../../api/tables.ts";
import { type Column, type Definition, newColumn, touchedColumns } from "./definition.ts";
import type { Plan, Refusal, Step } from "./steps.ts";

type Found<T> = { refusal: Refusal } | T;

const missing = (path: string, name: string): { refusal: Refusal } => ({ refusal: { kind: "missing", path, name } });
const invalid = (path: string, message: string): { refusal: Refusal } => ({
  refusal: { kind: "invalid", issues: [{ path, message }] },
});

function taken(columns: Column[], name: string): boolean {
  return columns.some((column) => column.name.toLowerCase() === name.toLowerCase());
}

function dropped(columns: Column[], names: string[]): Found<{ columns: Column[]; steps: Step[] }> {
  for (const [index, name] of names.entries()) {
    if (!columns.some((column) => column.name === name)) return missing(`drop.${index}`, name);
  }
  return {
    columns: columns.filter((column) => !names.includes(column.name)),
    steps: names.map((column, index) => ({ do: "drop column", path: `drop.${index}`, column })),
  };
}

/** All renames happen at once, so that two columns can swap their names. */
function renamed(columns: Column[], renames: TableChange["rename"]): Found<{ columns: Column[]; steps: Step[] }> {
  for (const [index, { from }] of renames.entries()) {
    if (!columns.some((column) => column.name === from)) return missing(`rename.${index}.from`, from);
  }
  const staying = columns.filter((column) => !renames.some(({ from }) => from === column.name));
  for (const [index, { to }] of renames.entries()) {
    if (taken(staying, to)) return { refusal: { kind: "exists", path: `rename.${index}.to`, name: to } };
  }
  const real = renames.filter(({ from, to }) => from !== to);
  const newNames = new Map(real.map(({ from, to }) => [from, to]));
  return {
    columns: columns.map((column) => ({ ...column, name: newNames.get(column.name) ?? column.name })),
    steps: real.length > 0 ? [{ do: "rename columns", path: "rename", renames: real }] : [],
  };
}

function modifiedColumn(column: Column, wanted: Modification, newName: () => string): Column {
  const unique = wanted.unique ?? column.unique;
  return {
    name: column.name,
    type: wanted.type ?? column.type,
    nullable: wanted.nullable ?? column.nullable,
    unique,
    default: wanted.default === undefined ? column.default : wanted.default,
    comment: wanted.comment === undefined ? column.comment : wanted.comment,
    constraint: unique ? (column.constraint ?? newName()) : null,
  };
}

/** From one state of a column to another: constraints that could stand in the way of a conversion go before it. */
function modificationSteps(before: Column, after: Column, path: string): Step[] {
  const column = after.name;
  const steps: Step[] = [];
  if (before.constraint !== null && !after.unique) {
    steps.push({ do: "drop unique", path: `${path}.unique`, column, constraint: before.constraint });
  }
  if (before.type !== after.type) {
    const { type: to, default: standard } = after;
    steps.push({ do: "convert", path: `${path}.type`, column, from: before.type, to, default: standard });
  }
  if (before.default !== after.default) {
    steps.push({ do: "set default", path: `${path}.default`, column, type: after.type, default: after.default });
  }
  if (before.nullable !== after.nullable) {
    steps.push({ do: "set nullable", path: `${path}.nullable`, column, nullable: after.nullable });
  }
  if (after.constraint !== null && !before.unique) {
    steps.push({ do: "add unique", path: `${path}.unique`, column, constraint: after.constraint });
  }
  if (before.comment !== after.comment) {
    steps.push({ do: "comment column", path: `${path}.comment`, column, comment: after.comment });
  }
  return steps;
}

function modified(
  columns: Column[],
  modify: Modification[],
  newName: () => string,
): Found<{ columns: Column[]; steps: Step[] }> {
  const result = [...columns];
  const steps: Step[] = [];
  const issues: { path: string; message: string }[] = [];
  for (const [index, wanted] of modify.entries()) {
    const at = result.findIndex((column) => column.name === wanted.name);
    const before = result[at];
    if (!before) return missing(`modify.${index}.name`, wanted.name);
    const after = modifiedColumn(before, wanted, newName);
    for (const issue of columnIssues(after)) issues.push({ ...issue, path: `modify.${index}.${issue.path}` });
    result[at] = after;
    steps.push(...modificationSteps(before, after, `modify.${index}`));
  }
  return issues.length > 0 ? { refusal: { kind: "invalid", issues } } : { columns: result, steps };
}

function added(
  columns: Column[],
  add: TableChange["add"],
  newName: () => string,
): Found<{ columns: Column[]; steps: Step[] }> {
  if (columns.length + add.length > tableLimits.columnsMax) {
    return invalid("add", `must leave the table with at most ${tableLimits.columnsMax} columns`);
  }
  for (const [index, { name }] of add.entries()) {
    if (taken(columns, name)) return { refusal: { kind: "exists", path: `add.${index}.name`, name } };
  }
  const fresh = add.map((input) => newColumn(input, newName));
  return {
    columns: [...columns, ...fresh],
    steps: fresh.map((column, index) => ({ do: "add column", path: `add.${index}`, column })),
  };
}

function ordered(columns: Column[], order: string[] | undefined): Found<{ columns: Column[]; steps: Step[] }> {
  if (order === undefined) return { columns, steps: [] };
  const sorted: Column[] = [];
  for (const [index, name] of order.entries()) {
    const column = columns.find((one) => one.name === name);
    if (!column) return missing(`order.${index}`, name);
    sorted.push(column);
  }
  const left = columns.filter((column) => !sorted.includes(column)).map((column) => column.name);
  if (left.length > 0) return invalid("order", `must name every own column once; it lacks ${left.join(", ")}`);
  const same = sorted.every((column, index) => column === columns[index]);
  return { columns: sorted, steps: same ? [] : [{ do: "order", path: "order", columns: order }] };
}

/**
 * What a change does to a table, each step seeing the names that the step before left (CONTRACT §6), or the first
 * reason why it cannot be. `newName` gives a name that nothing in the database has yet.
 */
export function planChange(table: Definition, change: TableChange, newName: () => string): Found<Plan> {
  const stages = [
    (columns: Column[]) => dropped(columns, change.drop),
    (columns: Column[]) => renamed(columns, change.rename),
    (columns: Column[]) => modified(columns, change.modify, newName),
    (columns: Column[]) => added(columns, change.add, newName),
    (columns: Column[]) => ordered(columns, change.order),
  ];
  const steps: Step[] = [];
  let columns = table.columns;
  for (const stage of stages) {
    const result = stage(columns);
    if ("refusal" in result) return result;
    columns = result.columns;
    steps.push(...result.steps);
  }
  const comment = change.comment === undefined ? table.comment : change.comment;
  if (comment !== table.comment) steps.push({ do: "comment table", path: "comment", comment });
  const touched = touchedColumns(columns);
  if (touched.toSorted().join() !== touchedColumns(table.columns).toSorted().join()) {
    steps.push({ do: "touch on update", path: "", columns: touched });
  }
  return { definition: { name: table.name, comment, columns }, steps };
}
