import { createHash } from "node:crypto";
import { type Definition, definitionSchema, type Retrier, type StateDefinition } from "./definition-schema.ts";
import { DefinitionError } from "./errors.ts";
import type { Scope } from "./expression-check.ts";
import { type Integrations, resourceProblems, waitsForToken } from "./resources.ts";
import { compileTemplate, type Template } from "./template.ts";

/** The transition out of a state; without `next` the execution ends. */
export interface Exit {
  next: string | undefined;
  assign: [string, Template][];
  output: Template | undefined;
}

export interface TaskState {
  type: "Task";
  resource: string;
  token: boolean;
  args: Template;
  timeoutSeconds: Template | undefined;
  heartbeatSeconds: Template | undefined;
  retry: Retrier[];
  catch: { errorEquals: string[]; exit: Exit }[];
  exit: Exit;
}
export interface ChoiceState {
  type: "Choice";
  choices: { condition: Template; exit: Exit }[];
  /** The Default of the Choice; `undefined` if it has none. */
  otherwise: Exit | undefined;
}
export interface WaitState {
  type: "Wait";
  seconds: Template | undefined;
  timestamp: Template | undefined;
  exit: Exit;
}
export interface PassState {
  type: "Pass" | "Succeed";
  exit: Exit;
}
export interface FailState {
  type: "Fail";
  error: Template | undefined;
  cause: Template | undefined;
}
export type State = TaskState | ChoiceState | WaitState | PassState | FailState;

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

type Assigns = { Assign?: Record<string, unknown> | undefined };

function assigns(state: StateDefinition): Assigns[] {
  if (state.Type === "Task") return [state, ...state.Catch];
  if (state.Type === "Choice") return [state, ...state.Choices];
  return state.Type === "Succeed" || state.Type === "Fail" ? [] : [state];
}

function targets(state: StateDefinition): string[] {
  if (state.Type === "Choice") {
    return [...state.Choices.map((rule) => rule.Next), ...(state.Default === undefined ? [] : [state.Default])];
  }
  if (state.Type === "Succeed" || state.Type === "Fail") return [];
  const next = state.Next === undefined ? [] : [state.Next];
  return state.Type === "Task" ? [...next, ...state.Catch.map((catcher) => catcher.Next)] : next;
}

function flowProblems(definition: Definition): string[] {
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

/** Compiles the templates of one state, each with the scope of its field. */
function templatesOf(variables: ReadonlySet<string>, problems: string[]) {
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

function compileState(state: StateDefinition, templates: Templates): State {
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
