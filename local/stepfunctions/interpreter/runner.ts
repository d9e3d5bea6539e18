import { setImmediate as nextTurn } from "node:timers/promises";
import type { Ending } from "../store/journal.ts";
import { Interrupted, JournalBroken, reasonOf, TaskError } from "./errors.ts";
import { type Execution, enter, isOver, recordNow } from "./execution.ts";
import type { ChoiceState, FailState, State, WaitState } from "./states.ts";
import { bindingsOf, exitState, pauseUntil, type Runtime, recordEvent, recordPosition, type Step } from "./step.ts";
import { addStateToCause, runTask } from "./task.ts";
import { evaluateAs } from "./template.ts";

/** The end of an execution, without its time. */
export type Outcome = Omit<Ending, "stoppedAt">;

const HISTORY_EVENTS_MAX = 25_000;
/** After this time an execution yields to the event loop. */
const TURN_MS = 8;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isString = (value: unknown): value is string => typeof value === "string";
const isTimestamp = (value: unknown): value is string =>
  typeof value === "string" && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
const isWaitSeconds = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 99_999_999;

async function choose(execution: Execution, state: ChoiceState): Promise<Step> {
  const bindings = bindingsOf(execution);
  const { input } = execution.position;
  for (const rule of state.choices) {
    if (await evaluateAs(rule.condition, bindings, "boolean", isBoolean)) {
      return exitState(execution, rule.exit, input, bindings);
    }
  }
  if (state.otherwise) return exitState(execution, state.otherwise, input, bindings);
  throw new TaskError("States.NoChoiceMatched", `No choice of the state '${execution.position.state}' matched.`);
}

async function wait(runtime: Runtime, execution: Execution, state: WaitState): Promise<Step> {
  const { position } = execution;
  const bindings = bindingsOf(execution);
  if (position.waitUntil === undefined) {
    const seconds = state.seconds && (await evaluateAs(state.seconds, bindings, "integer", isWaitSeconds));
    const timestamp = state.timestamp && (await evaluateAs(state.timestamp, bindings, "timestamp", isTimestamp));
    const until = timestamp === undefined ? position.enteredAt + (seconds ?? 0) * 1_000 : Date.parse(timestamp);
    recordPosition(execution);
    recordNow(execution, { t: "waiting", until });
  }
  await pauseUntil(runtime, execution, position.waitUntil ?? 0);
  return exitState(execution, state.exit, position.input, bindings);
}

async function fail(execution: Execution, state: FailState): Promise<Outcome> {
  const bindings = bindingsOf(execution);
  const error = state.error && (await evaluateAs(state.error, bindings, "string", isString));
  const cause = state.cause && (await evaluateAs(state.cause, bindings, "string", isString));
  return { status: "FAILED", ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}

async function runState(runtime: Runtime, execution: Execution, state: State): Promise<Step | Outcome> {
  switch (state.type) {
    case "Task":
      return runTask(runtime, execution, state);
    case "Choice":
      return choose(execution, state);
    case "Wait":
      return wait(runtime, execution, state);
    case "Pass":
    case "Succeed":
      return exitState(execution, state.exit, execution.position.input, bindingsOf(execution));
    case "Fail":
      return fail(execution, state);
  }
}

function stateOf(execution: Execution): State {
  if (execution.damaged) throw new TaskError("States.Runtime", "The journal of the execution is damaged.");
  const state = execution.machine?.states.get(execution.position.state);
  if (!state) throw new TaskError("States.Runtime", "The definition of the execution cannot be loaded any more.");
  return state;
}

function move(execution: Execution, from: State, step: Step & { next: string }, now: number): void {
  recordEvent(execution, now, `${from.type}StateExited`, { state: execution.position.state });
  execution.position = enter(step.next, now, step.output, step.variables);
  recordEvent(execution, now, `${stateOf(execution).type}StateEntered`, { state: step.next });
}

async function runToEnd(runtime: Runtime, execution: Execution): Promise<Outcome> {
  const { clock } = runtime;
  if (execution.history.length === 0) {
    const { startedAt } = execution.identity;
    const { state } = execution.position;
    recordEvent(execution, startedAt, "ExecutionStarted");
    recordEvent(execution, startedAt, `${stateOf(execution).type}StateEntered`, { state });
  }
  let turnEnd = performance.now() + TURN_MS;
  for (;;) {
    if (performance.now() > turnEnd) {
      await nextTurn();
      turnEnd = performance.now() + TURN_MS;
    }
    if (isOver(execution)) throw new Interrupted();
    if (execution.history.length >= HISTORY_EVENTS_MAX) {
      const cause = `The execution reached the maximum number of history events (${HISTORY_EVENTS_MAX}).`;
      throw new TaskError("States.Runtime", cause);
    }
    const state = stateOf(execution);
    const left = await runState(runtime, execution, state);
    if ("status" in left) return left;
    const { next } = left;
    if (next === undefined) {
      recordEvent(execution, clock.now(), `${state.type}StateExited`, { state: execution.position.state });
      return { status: "SUCCEEDED", output: JSON.stringify(left.output) };
    }
    move(execution, state, { ...left, next }, clock.now());
  }
}

/** Runs an execution from its position to its end. Throws Interrupted if it was ended or halted meanwhile, and JournalBroken. */
export async function runExecution(runtime: Runtime, execution: Execution): Promise<Outcome> {
  try {
    return await runToEnd(runtime, execution);
  } catch (error) {
    if (error instanceof Interrupted || isOver(execution)) throw new Interrupted();
    if (error instanceof JournalBroken) throw error;
    const known = error instanceof TaskError ? error : new TaskError("States.Runtime", String(error));
    const failure = addStateToCause(execution, known);
    return { status: "FAILED", ...reasonOf(failure) };
  }
}
