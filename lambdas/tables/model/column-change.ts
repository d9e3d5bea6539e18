import type { Modification } from "../../../api/tables.ts";
import type { Column } from "./definition.ts";
import type { Step } from "./steps.ts";

/** A column after a modification. `newName` returns a name that is unique in the database. */
export function modifiedColumn(column: Column, wanted: Modification, newName: () => string): Column {
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

/** The steps from one state of a column to another: constraints that could make a conversion fail are dropped before it. */
export function modificationSteps(before: Column, after: Column, path: string): Step[] {
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
