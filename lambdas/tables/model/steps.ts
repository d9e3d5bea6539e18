import type { ColumnType, Scalar } from "../../../api/tables.ts";
import type { Column, Definition } from "./definition.ts";

/** One step of a change to a table. `path` is the field of the request that asks for it. */
export type Step = { path: string } & (
  | { do: "drop column"; column: string }
  | { do: "rename columns"; renames: { from: string; to: string }[] }
  | { do: "convert"; column: string; from: ColumnType; to: ColumnType; default: Scalar }
  | { do: "set nullable"; column: string; nullable: boolean }
  | { do: "add unique" | "drop unique"; column: string; constraint: string }
  | { do: "set default"; column: string; type: ColumnType; default: Scalar }
  | { do: "comment column"; column: string; comment: string | null }
  | { do: "add column"; column: Column }
  | { do: "order"; columns: string[] }
  | { do: "comment table"; comment: string | null }
  | { do: "set on update"; columns: string[] }
);

export interface Plan {
  /** The table after all steps. */
  definition: Definition;
  steps: Step[];
}

/** The reasons why a change is invalid, in the order 404, 400, 409 (docs/api.md, Order of checks). */
export type Refusal =
  | { kind: "missing"; path: string; name: string }
  | { kind: "invalid"; issues: { path: string; message: string }[] }
  | { kind: "exists"; path: string; name: string };

/** Whether a change deletes data permanently. */
export function isDestructive(steps: Step[]): boolean {
  return steps.some((step) => step.do === "drop column");
}

function traits(column: Column): string {
  const words = [
    column.type,
    !column.nullable && "required",
    column.unique && "unique",
    column.default !== null && `default ${JSON.stringify(column.default)}`,
  ];
  return words.filter(Boolean).join(", ");
}

/** Describes a step; one line per change. */
export function wordsOf(step: Step): string[] {
  switch (step.do) {
    case "drop column":
      return [`Drop column ${step.column} and every value in it`];
    case "rename columns":
      return step.renames.map(({ from, to }) => `Rename column ${from} to ${to}`);
    case "convert":
      return [`Convert column ${step.column} from ${step.from} to ${step.to}`];
    case "set nullable":
      return [step.nullable ? `Allow null in column ${step.column}` : `Require a value in column ${step.column}`];
    case "add unique":
      return [`Require the values of column ${step.column} to be unique`];
    case "drop unique":
      return [`Allow equal values in column ${step.column}`];
    case "set default":
      if (step.default === null) return [`Remove the default of column ${step.column}`];
      return [`Set the default of column ${step.column} to ${JSON.stringify(step.default)}`];
    case "comment column":
      return [`${step.comment === null ? "Remove" : "Set"} the comment of column ${step.column}`];
    case "add column":
      return [`Add column ${step.column.name} (${traits(step.column)})`];
    case "order":
      return [`Order the columns: ${step.columns.join(", ")}`];
    case "comment table":
      return [`${step.comment === null ? "Remove" : "Set"} the comment of the table`];
    case "set on update":
      return [];
  }
}
