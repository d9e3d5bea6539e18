import type { Definition, StateDefinition } from "./definition-schema.ts";

function targets(state: StateDefinition): string[] {
  if (state.Type === "Choice") {
    return [...state.Choices.map((rule) => rule.Next), ...(state.Default === undefined ? [] : [state.Default])];
  }
  if (state.Type === "Succeed" || state.Type === "Fail") return [];
  const next = state.Next === undefined ? [] : [state.Next];
  return state.Type === "Task" ? [...next, ...state.Catch.map((catcher) => catcher.Next)] : next;
}

/** States that do not exist, that no state leads to, or that lead nowhere. */
export function flowProblems(definition: Definition): string[] {
  const problems: string[] = [];
  const reached = new Set([definition.StartAt]);
  for (const name of reached) {
    const state = Object.hasOwn(definition.States, name) ? definition.States[name] : undefined;
    if (state) for (const target of targets(state)) reached.add(target);
    else problems.push(`there is no state ${name}`);
  }
  for (const [name, state] of Object.entries(definition.States)) {
    if (!reached.has(name)) problems.push(`${name}: no state leads here`);
    if (state.Type === "Choice" || state.Type === "Succeed" || state.Type === "Fail") continue;
    if ((state.Next === undefined) === (state.End === undefined)) problems.push(`${name}: needs either Next or End`);
  }
  return problems;
}
