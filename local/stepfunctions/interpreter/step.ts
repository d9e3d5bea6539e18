import type { HistoryEvent } from "../store/journal.ts";
import type { Clock } from "./clock.ts";
import { Interrupted, TaskError } from "./errors.ts";
import { type Execution, isOver, record } from "./execution.ts";
import type { Exit } from "./machine.ts";
import type { Integrations } from "./resources.ts";
import { type Bindings, evaluate } from "./template.ts";

/** What running a state needs of the engine. */
export interface Surroundings {
  clock: Clock;
  integrations: Integrations;
  /** Calls in flight, so that closing can abort them. */
  calls: Set<AbortController>;
  /** An execution was parked or goes on: `idle()` checks again whether all are parked. */
  changed(): void;
}

/** How a state was left. */
export interface Step {
  next: string | undefined;
  output: unknown;
  variables: Record<string, unknown>;
}

const PAYLOAD_BYTES_MAX = 256 * 1024;
const VARIABLES_BYTES_MAX = 10 * 1024 * 1024;

/** Throws States.DataLimitExceeded above the payload quota of 256 KiB (or another given one). */
export function limitSize(value: unknown, what: string, bytesMax: number = PAYLOAD_BYTES_MAX): void {
  if (Buffer.byteLength(JSON.stringify(value) ?? "") <= bytesMax) return;
  throw new TaskError(
    "States.DataLimitExceeded",
    `The ${what} exceeds the maximum number of bytes service limit (${bytesMax}).`,
  );
}

/** Adds an event to the execution's history; it reaches the disk with the next flush. */
export function recordEvent(
  execution: Execution,
  at: number,
  type: string,
  details: Omit<HistoryEvent, "type" | "at"> = {},
): void {
  record(execution, { t: "event", type, at, ...details });
}

/** Puts the current position into the journal, once; called before anything that must not be forgotten. */
export function recordPosition(execution: Execution): void {
  const { position } = execution;
  if (position.recorded) return;
  const { state, enteredAt, input, variables } = position;
  execution.journal.append({ t: "entered", state, at: enteredAt, input, variables });
  position.recorded = true;
}

/** What expressions see: the variables, and `$states` with the context object. */
export function bindingsOf(execution: Execution, more: { result?: unknown; errorOutput?: unknown } = {}): Bindings {
  const { identity, position } = execution;
  const token = position.attempt?.token;
  const context = {
    Execution: {
      Id: identity.arn,
      Input: execution.input,
      Name: identity.name,
      RoleArn: identity.roleArn,
      StartTime: new Date(identity.startedAt).toISOString(),
    },
    State: {
      EnteredTime: new Date(position.enteredAt).toISOString(),
      Name: position.state,
      RetryCount: position.retryCount,
    },
    StateMachine: { Id: identity.stateMachineArn, Name: identity.stateMachineArn.split(":").at(-1) },
    ...(token === undefined ? {} : { Task: { Token: token } }),
  };
  return { ...position.variables, states: { input: position.input, context, ...more } };
}

/** Evaluates the way out of a state: Assign and Output both see the variables as they were on entry. */
export async function leave(execution: Execution, exit: Exit, output: unknown, bindings: Bindings): Promise<Step> {
  const { input, variables } = execution.position;
  const step: Step = { next: exit.next, output, variables };
  if (exit.assign.length > 0) {
    const assigned: [string, unknown][] = [];
    for (const [name, template] of exit.assign) assigned.push([name, await evaluate(template, bindings)]);
    limitSize(Object.fromEntries(assigned), "size of the assigned variables");
    step.variables = { ...variables, ...Object.fromEntries(assigned) };
    limitSize(step.variables, "size of all variables", VARIABLES_BYTES_MAX);
  }
  if (exit.output) step.output = await evaluate(exit.output, bindings);
  if (step.output !== input) limitSize(step.output, `output of the state '${execution.position.state}'`);
  return step;
}

/** Settles a pause; later calls do nothing. */
export interface Settle<T> {
  done(value: T): void;
  fail(error: unknown): void;
}

/**
 * Waits for what `start` sets up, which gives the clean-up (told whether it was `done`). The end of the execution and the
 * closing of the service interrupt it with Interrupted.
 */
export function pause<T>(execution: Execution, start: (settle: Settle<T>) => (done: boolean) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    if (isOver(execution)) {
      reject(new Interrupted());
      return;
    }
    let settled: boolean | undefined;
    let cleanUp: ((done: boolean) => void) | undefined;
    const settle = (done: boolean, announce: () => void) => {
      if (settled !== undefined) return;
      settled = done;
      execution.interrupt = undefined;
      cleanUp?.(done);
      announce();
    };
    execution.interrupt = () => settle(false, () => reject(new Interrupted()));
    cleanUp = start({
      done: (value) => settle(true, () => resolve(value)),
      fail: (error) => settle(false, () => reject(error)),
    });
    if (settled !== undefined) cleanUp(settled);
  });
}

/** Waits until the clock has reached `due` (ms since the epoch). */
export async function pauseUntil(surroundings: Surroundings, execution: Execution, due: number): Promise<void> {
  if (due <= surroundings.clock.now()) return;
  await pause<void>(execution, (settle) => surroundings.clock.at(due, () => settle.done()));
}
