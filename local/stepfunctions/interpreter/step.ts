import type { HistoryEvent } from "../store/journal.ts";
import type { Clock } from "./clock.ts";
import { Interrupted, TaskError } from "./errors.ts";
import { type Execution, isOver, record } from "./execution.ts";
import type { Integrations } from "./resources.ts";
import type { Exit } from "./states.ts";
import { type Bindings, evaluate } from "./template.ts";

/** The parts of the engine that a running state uses. */
export interface Runtime {
  clock: Clock;
  integrations: Integrations;
  /** The calls in flight; closing aborts them. */
  calls: Set<AbortController>;
  /** Called when an execution was parked or continues, so that `idle()` checks again whether all are parked. */
  changed(): void;
}

/** The result of a state: the next state, its output and the variables. */
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

/** Writes the current position to the journal, once; called before any entry that depends on it. */
export function recordPosition(execution: Execution): void {
  const { position } = execution;
  if (position.recorded) return;
  const { state, enteredAt, input, variables } = position;
  execution.journal.append({ t: "entered", state, at: enteredAt, input, variables });
  position.recorded = true;
}

/** The bindings of expressions: the variables, and `$states` with the context object. */
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

/** Evaluates Assign and Output of a state; both read the variables as they were when the state was entered. */
export async function exitState(execution: Execution, exit: Exit, output: unknown, bindings: Bindings): Promise<Step> {
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

/** Resolves or rejects a pause; only the first call has an effect. */
export interface Resolver<T> {
  done(value: T): void;
  fail(error: unknown): void;
}

/**
 * Waits until the resolver that `start` gets is called. `start` returns a clean-up function, which gets true after
 * `done`. The end of the execution and the closing of the service reject the pause with Interrupted.
 */
export function pause<T>(execution: Execution, start: (resolver: Resolver<T>) => (done: boolean) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    if (isOver(execution)) {
      reject(new Interrupted());
      return;
    }
    let settled: boolean | undefined;
    let cleanUp: ((done: boolean) => void) | undefined;
    const finish = (done: boolean, announce: () => void) => {
      if (settled !== undefined) return;
      settled = done;
      execution.interrupt = undefined;
      cleanUp?.(done);
      announce();
    };
    execution.interrupt = () => finish(false, () => reject(new Interrupted()));
    cleanUp = start({
      done: (value) => finish(true, () => resolve(value)),
      fail: (error) => finish(false, () => reject(error)),
    });
    if (settled !== undefined) cleanUp(settled);
  });
}

/** Waits until the clock has reached `due` (ms since the epoch). */
export async function pauseUntil(runtime: Runtime, execution: Execution, due: number): Promise<void> {
  if (due <= runtime.clock.now()) return;
  await pause<void>(execution, (resolver) => runtime.clock.at(due, () => resolver.done()));
}
