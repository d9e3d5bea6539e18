import { columnIssues, type Modification, type TableChange, tableLimits } from "../../../api/tables.ts";
import { missingColumn } from "./change-names.ts";
import { modificationSteps, modifiedColumn } from "./column-change.ts";
import { type Column, type Definition, newColumn, onUpdateColumns } from "./definition.ts";
import type { Plan, Refusal, Step } from "./steps.ts";

/** The columns after a stage of a change, and the reasons if it is invalid. All columns that it names exist. */
interface Stage {
  columns: Column[];
  steps: Step[];
  refusals: Refusal[];
}

const invalid = (path: string, message: string): Refusal => ({ kind: "invalid", issues: [{ path, message }] });

function has(columns: Column[], name: string): boolean {
  return columns.some((column) => column.name.toLowerCase() === name.toLowerCase());
}

function dropped(columns: Column[], names: string[]): Stage {
  return {
    columns: columns.filter((column) => !names.includes(column.name)),
    steps: names.map((column, index) => ({ do: "drop column", path: `drop.${index}`, column })),
    refusals: [],
  };
}

/** All renames happen at once, so that two columns can swap their names. */
function renamed(columns: Column[], renames: TableChange["rename"]): Stage {
  const staying = columns.filter((column) => !renames.some(({ from }) => from === column.name));
  const real = renames.filter(({ from, to }) => from !== to);
  const newNames = new Map(real.map(({ from, to }) => [from, to]));
  return {
    columns: columns.map((column) => ({ ...column, name: newNames.get(column.name) ?? column.name })),
    steps: real.length > 0 ? [{ do: "rename columns", path: "rename", renames: real }] : [],
    refusals: renames.flatMap(({ to }, index): Refusal[] =>
      has(staying, to) ? [{ kind: "exists", path: `rename.${index}.to`, name: to }] : [],
    ),
  };
}

function modified(columns: Column[], modify: Modification[], newName: () => string): Stage {
  const steps: Step[] = [];
  const refusals: Refusal[] = [];
  const after = columns.map((before) => {
    const index = modify.findIndex(({ name }) => name === before.name);
    const wanted = modify[index];
    if (!wanted) return before;
    const column = modifiedColumn(before, wanted, newName);
    const path = `modify.${index}`;
    refusals.push(...columnIssues(column).map((issue) => invalid(`${path}.${issue.path}`, issue.message)));
    return column;
  });
  for (const [index, { name }] of modify.entries()) {
    const before = columns.find((column) => column.name === name);
    const column = after.find((one) => one.name === name);
    if (before && column) steps.push(...modificationSteps(before, column, `modify.${index}`));
  }
  return { columns: after, steps, refusals };
}

function added(columns: Column[], add: TableChange["add"], newName: () => string): Stage {
  const fresh = add.map((input) => newColumn(input, newName));
  const rule = `must leave the table with at most ${tableLimits.columnsMax} columns`;
  return {
    columns: [...columns, ...fresh],
    steps: fresh.map((column, index) => ({ do: "add column", path: `add.${index}`, column })),
    refusals: [
      ...(columns.length + add.length > tableLimits.columnsMax ? [invalid("add", rule)] : []),
      ...add.flatMap(({ name }, index): Refusal[] =>
        has(columns, name) ? [{ kind: "exists", path: `add.${index}.name`, name }] : [],
      ),
    ],
  };
}

function ordered(columns: Column[], order: string[] | undefined): Stage {
  if (order === undefined) return { columns, steps: [], refusals: [] };
  const sorted = columns.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  const left = columns.filter(({ name }) => !order.includes(name)).map(({ name }) => name);
  const isSame = sorted.every((column, index) => column === columns[index]);
  return {
    columns: sorted,
    steps: isSame ? [] : [{ do: "order", path: "order", columns: order }],
    refusals:
      left.length > 0
        ? [invalid("order", `must name each of the table's own columns once; missing: ${left.join(", ")}`)]
        : [],
  };
}

/** The refusal that the request is answered with: all broken rules, else the first name conflict. */
function worst(refusals: Refusal[]): Refusal | undefined {
  const issues = refusals.flatMap((refusal) => (refusal.kind === "invalid" ? refusal.issues : []));
  return issues.length > 0 ? { kind: "invalid", issues } : refusals[0];
}

/**
 * Plans a change of a table, or explains why it is invalid. Each stage sees the names that exist after the stage before it. A
 * missing column is reported before a broken rule, and a broken rule before a name conflict. `newName` returns a name that is
 * unique in the database.
 */
export function planChange(table: Definition, change: TableChange, newName: () => string): Plan | { refusal: Refusal } {
  const missing = missingColumn(table.columns, change);
  if (missing) return { refusal: { kind: "missing", ...missing } };
  const stages = [
    (columns: Column[]) => dropped(columns, change.drop),
    (columns: Column[]) => renamed(columns, change.rename),
    (columns: Column[]) => modified(columns, change.modify, newName),
    (columns: Column[]) => added(columns, change.add, newName),
    (columns: Column[]) => ordered(columns, change.order),
  ];
  let columns = table.columns;
  const steps: Step[] = [];
  const refusals: Refusal[] = [];
  for (const stage of stages) {
    const result = stage(columns);
    columns = result.columns;
    steps.push(...result.steps);
    refusals.push(...result.refusals);
  }
  const refusal = worst(refusals);
  if (refusal) return { refusal };

  const comment = change.comment === undefined ? table.comment : change.comment;
  if (comment !== table.comment) steps.push({ do: "comment table", path: "comment", comment });
  const onUpdate = onUpdateColumns(columns);
  if (onUpdate.toSorted().join() !== onUpdateColumns(table.columns).toSorted().join()) {
    steps.push({ do: "set on update", path: "", columns: onUpdate });
  }
  return { definition: { name: table.name, comment, columns }, steps };
}
