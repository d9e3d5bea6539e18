import type { EnvLine } from "../sdk/env-file.ts";

/** What storing a file's variables would do to one of them. */
export interface PlannedVariable extends EnvLine {
  effect: "add" | "change" | "keep";
  /** The id of the variable that exists. */
  id?: string;
}

/** What storing the variables would do, compared with those that exist; other variables stay. */
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
