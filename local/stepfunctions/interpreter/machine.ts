import { createHash } from "node:crypto";
import { assigns, compileState, templatesOf } from "./compile-state.ts";
import { definitionSchema, type StateDefinition } from "./definition-schema.ts";
import { DefinitionError } from "./errors.ts";
import { flowProblems } from "./flow-problems.ts";
import { type Integrations, resourceProblems, waitsForToken } from "./resources.ts";
import type { State } from "./states.ts";

/** A loaded definition: checked, and with compiled expressions. */
export interface Machine {
  /** The definition as JSON text. */
  text: string;
  /** SHA-256 of `text`; an execution keeps the definition with which it started. */
  hash: string;
  startAt: string;
  timeoutSeconds: number | undefined;
  states: ReadonlyMap<string, State>;
}

function taskProblems(state: StateDefinition, integrations: Integrations): string[] {
  if (state.Type !== "Task") return [];
  const problems = resourceProblems(integrations, state.Resource, state.Arguments);
  if (state.HeartbeatSeconds !== undefined && !waitsForToken(state.Resource)) {
    problems.push("HeartbeatSeconds has no effect without .waitForTaskToken");
  }
  return problems;
}

/** Loads a parsed ASL definition. Throws DefinitionError for everything unknown instead of ignoring it. */
export function loadMachine(source: unknown, integrations: Integrations): Machine {
  const parsed = definitionSchema.safeParse(source);
  if (!parsed.success) {
    throw new DefinitionError(parsed.error.issues.map((issue) => `${issue.path.join("/")}: ${issue.message}`));
  }
  const definition = parsed.data;
  const problems = flowProblems(definition);
  const all = Object.entries(definition.States);
  const variables = new Set(
    all.flatMap(([, state]) => assigns(state).flatMap((from) => Object.keys(from.Assign ?? {}))),
  );
  const states = new Map<string, State>();
  for (const [name, state] of all) {
    const found = taskProblems(state, integrations);
    states.set(name, compileState(state, templatesOf(variables, found)));
    problems.push(...found.map((problem) => `${name}: ${problem}`));
  }
  if (problems.length > 0) throw new DefinitionError(problems);
  const text = JSON.stringify(source);
  return {
    text,
    hash: createHash("sha256").update(text).digest("hex"),
    startAt: definition.StartAt,
    timeoutSeconds: definition.TimeoutSeconds,
    states,
  };
}
