import type { EnvLine } from "../sdk/env-file.ts";

/** A variable of a file, and the effect of storing it. */
export interface PlannedVariable extends EnvLine {
  effect: "add" | "change" | "keep";
  /** The id of the existing variable. */
  id?: string;
}

/** Compares the variables of a file with the existing ones. Existing variables that are not in the file are kept. */
export function planVariables(
  file: readonly EnvLine[],
  existing: readonly { id: string; name: string; value: string }[],
): PlannedVariable[] {
  const known = new Map(existing.map((variable) => [variable.name, variable]));
  return file.map((variable) => {
    const old = known.get(variable.name);
    if (old === undefined) return { ...variable, effect: "add" };
    return { ...variable, id: old.id, effect: old.value === variable.value ? "keep" : "change" };
  });
}
