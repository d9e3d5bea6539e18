import type { StateDefinition } from "./definition-schema.ts";
import type { Scope } from "./expression-check.ts";
import { waitsForToken } from "./resources.ts";
import type { ChoiceState, Exit, State, TaskState } from "./states.ts";
import { compileTemplate } from "./template.ts";

type Assigns = { Assign?: Record<string, unknown> | undefined };

/** All places of a state that assign variables. */
export function assigns(state: StateDefinition): Assigns[] {
  if (state.Type === "Task") return [state, ...state.Catch];
  if (state.Type === "Choice") return [state, ...state.Choices];
  return state.Type === "Succeed" || state.Type === "Fail" ? [] : [state];
}

/** Compiles the templates of one state, each with the scope of its field. */
export function templatesOf(variables: ReadonlySet<string>, problems: string[]) {
  const plain: Scope = { variables, result: false, errorOutput: false, taskToken: false };
  const template = (value: unknown, field: string, more: Partial<Scope> = {}) =>
    compileTemplate(value, field, { ...plain, ...more }, problems);
  return {
    template,
    optional: (value: unknown, field: string) => (value === undefined ? undefined : template(value, field)),
    exit: (from: Assigns & { Output?: unknown }, next?: string, prefix = "", more: Partial<Scope> = {}): Exit => ({
      next,
      assign: Object.entries(from.Assign ?? {}).map(([key, value]) => [
        key,
        template(value, `${prefix}Assign/${key}`, more),
      ]),
      output: from.Output === undefined ? undefined : template(from.Output, `${prefix}Output`, more),
    }),
  };
}

type Templates = ReturnType<typeof templatesOf>;
type Kind<T extends StateDefinition["Type"]> = Extract<StateDefinition, { Type: T }>;

function compileTask(state: Kind<"Task">, { template, optional, exit }: Templates): TaskState {
  const token = waitsForToken(state.Resource);
  return {
    type: "Task",
    resource: state.Resource,
    token,
    args: template(state.Arguments, "Arguments", { taskToken: token }),
    timeoutSeconds: optional(state.TimeoutSeconds, "TimeoutSeconds"),
    heartbeatSeconds: optional(state.HeartbeatSeconds, "HeartbeatSeconds"),
    retry: state.Retry,
    catch: state.Catch.map((catcher, index) => ({
      errorEquals: catcher.ErrorEquals,
      exit: exit(catcher, catcher.Next, `Catch[${index}]/`, { errorOutput: true }),
    })),
    exit: exit(state, state.Next, "", { result: true }),
  };
}

function compileChoice(state: Kind<"Choice">, { template, exit }: Templates): ChoiceState {
  return {
    type: "Choice",
    choices: state.Choices.map((rule, index) => ({
      condition: template(rule.Condition, `Choices[${index}]/Condition`),
      exit: exit(rule, rule.Next, `Choices[${index}]/`),
    })),
    otherwise: state.Default === undefined ? undefined : exit(state, state.Default),
  };
}

/** Compiles one checked state; `templates` collects the problems of its expressions. */
export function compileState(state: StateDefinition, templates: Templates): State {
  const { optional, exit } = templates;
  switch (state.Type) {
    case "Task":
      return compileTask(state, templates);
    case "Choice":
      return compileChoice(state, templates);
    case "Wait": {
      const { Seconds, Timestamp } = state;
      const times = { seconds: optional(Seconds, "Seconds"), timestamp: optional(Timestamp, "Timestamp") };
      return { type: "Wait", ...times, exit: exit(state, state.Next) };
    }
    case "Pass":
      return { type: "Pass", exit: exit(state, state.Next) };
    case "Succeed":
      return { type: "Succeed", exit: exit(state) };
    case "Fail":
      return { type: "Fail", error: optional(state.Error, "Error"), cause: optional(state.Cause, "Cause") };
  }
}
