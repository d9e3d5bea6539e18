import type { Answer } from "../store/journal.ts";
import {
  asTaskError,
  errorOutputOf,
  HeartbeatTimeout,
  Interrupted,
  JournalBroken,
  matchesError,
  reasonOf,
  TaskError,
  UnnamedError,
} from "./errors.ts";
import { type Attempt, type Execution, isOver, record, recordNow } from "./execution.ts";
import type { TaskState } from "./machine.ts";
import { integrationOf } from "./resources.ts";
import { nextRetry } from "./retry.ts";
import {
  bindingsOf,
  leave,
  limitSize,
  pause,
  pauseUntil,
  recordEvent,
  recordPosition,
  type Settle,
  type Step,
  type Surroundings,
} from "./step.ts";
import { issueToken } from "./task-token.ts";
import { evaluate, evaluateAs, type Template } from "./template.ts";

const isSeconds = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 99_999_999;

async function secondsOf(execution: Execution, template: Template | undefined): Promise<number | undefined> {
  return template && evaluateAs(template, bindingsOf(execution), "positive integer", isSeconds);
}

/** Begins a try: its deadlines and its token are in the journal before anything is called. */
async function beginAttempt(surroundings: Surroundings, execution: Execution, state: TaskState): Promise<Attempt> {
  const timeoutSeconds = await secondsOf(execution, state.timeoutSeconds);
  const heartbeatSeconds = await secondsOf(execution, state.heartbeatSeconds);
  const now = surroundings.clock.now();
  recordPosition(execution);
  record(execution, {
    t: "attempt",
    aliveAt: now,
    ...(timeoutSeconds === undefined ? {} : { deadline: now + timeoutSeconds * 1_000 }),
    ...(heartbeatSeconds === undefined ? {} : { heartbeatSeconds }),
    ...(state.token ? { token: issueToken(execution.identity.arn) } : {}),
  });
  recordEvent(execution, now, "TaskScheduled", { resource: state.resource });
  const { attempt } = execution.position;
  if (!attempt) throw new Error("an attempt was recorded and is not there");
  return attempt;
}

function take(answer: Answer, settle: Settle<unknown>): void {
  if ("error" in answer)
    settle.fail(answer.error === null ? new UnnamedError(answer.cause) : new TaskError(answer.error, answer.cause));
  else settle.done(answer.output);
}

/** Arms the two deadlines of a try; the answer disarms them. */
function armDeadlines(surroundings: Surroundings, execution: Execution, attempt: Attempt, settle: Settle<unknown>) {
  const { clock } = surroundings;
  const { deadline, heartbeatSeconds } = attempt;
  const cancelDeadline =
    deadline === undefined ? undefined : clock.at(deadline, () => settle.fail(new TaskError("States.Timeout")));
  let cancelHeartbeat: (() => void) | undefined;
  const armHeartbeat = () => {
    cancelHeartbeat?.();
    if (heartbeatSeconds === undefined) return;
    cancelHeartbeat = clock.at(attempt.aliveAt + heartbeatSeconds * 1_000, () => settle.fail(new HeartbeatTimeout()));
  };
  armHeartbeat();
  execution.onHeartbeat = armHeartbeat;
  return () => {
    cancelDeadline?.();
    cancelHeartbeat?.();
    execution.onHeartbeat = undefined;
  };
}

/** Makes the call; gives what aborts it. A token Task's result only marks it as submitted, its failure fails the state. */
function call(
  surroundings: Surroundings,
  execution: Execution,
  state: TaskState,
  args: unknown,
  settle: Settle<unknown>,
  submitted: () => void,
): () => void {
  const integration = integrationOf(surroundings.integrations, state.resource);
  const controller = new AbortController();
  surroundings.calls.add(controller);
  const token = execution.position.attempt?.token;
  const context = {
    signal: controller.signal,
    executionArn: execution.identity.arn,
    ...(token === undefined ? {} : { taskToken: token }),
  };
  const run = async () => {
    if (!integration) throw new TaskError("States.Runtime", `No integration is registered for ${state.resource}.`);
    const text = JSON.stringify((await integration(args, context)) ?? null);
    if (Buffer.byteLength(text) > 256 * 1024)
      limitSize(JSON.parse(text), `result of the task '${execution.position.state}'`);
    return JSON.parse(text);
  };
  run()
    .then((result) => (state.token ? submitted() : settle.done(result)), settle.fail)
    .catch(settle.fail)
    .finally(() => surroundings.calls.delete(controller));
  return () => {
    if (surroundings.calls.has(controller)) controller.abort();
  };
}

/** One try of a Task, up to its result. After a restart it goes on with the same token and deadlines. */
async function attemptTask(surroundings: Surroundings, execution: Execution, state: TaskState): Promise<unknown> {
  const attempt = execution.position.attempt ?? (await beginAttempt(surroundings, execution, state));
  const callNeeded = !attempt.submitted && !attempt.answer;
  const args = callNeeded ? await evaluate(state.args, bindingsOf(execution)) : undefined;
  if (callNeeded) limitSize(args, `input of the task '${execution.position.state}'`);
  execution.journal.flush();
  const now = surroundings.clock.now();
  if (!attempt.answer && now >= (attempt.deadline ?? Number.POSITIVE_INFINITY)) throw new TaskError("States.Timeout");
  return pause<unknown>(execution, (settle) => {
    let paused = true;
    const disarm = armDeadlines(surroundings, execution, attempt, settle);
    const park = () => {
      execution.parked = true;
      surroundings.changed();
    };
    const submitted = () => {
      if (!paused || execution.position.attempt !== attempt) return;
      recordEvent(execution, surroundings.clock.now(), "TaskSubmitted", { resource: state.resource });
      recordNow(execution, { t: "submitted" });
      park();
    };
    execution.onAnswer = () => attempt.answer && take(attempt.answer, settle);
    const abort = callNeeded ? call(surroundings, execution, state, args, settle, submitted) : () => {};
    if (attempt.answer) take(attempt.answer, settle);
    else if (attempt.submitted) park();
    return (done) => {
      paused = false;
      disarm();
      execution.onAnswer = undefined;
      execution.parked = false;
      if (!done) abort();
    };
  });
}

/** Errors that the interpreter itself finds name the state first, as in AWS. */
export function locate(execution: Execution, failure: TaskError): TaskError {
  if (failure.error !== "States.QueryEvaluationError" || failure.cause?.startsWith("An error occurred")) return failure;
  const entered = execution.history.findLastIndex((event) => event.type.endsWith("StateEntered")) + 1;
  const where = `An error occurred while executing the state '${execution.position.state}'`;
  return new TaskError(failure.error, `${where} (entered at the event id #${entered}). ${failure.cause ?? ""}`);
}

function recordFailure(surroundings: Surroundings, execution: Execution, state: TaskState, failure: TaskError): void {
  const type = failure.error === "States.Timeout" ? "TaskTimedOut" : "TaskFailed";
  recordEvent(execution, surroundings.clock.now(), type, { resource: state.resource, ...reasonOf(failure) });
}

async function retryOrCatch(
  surroundings: Surroundings,
  execution: Execution,
  state: TaskState,
  failure: TaskError,
): Promise<Step | undefined> {
  const { position } = execution;
  recordFailure(surroundings, execution, state, failure);
  const retry = nextRetry(state.retry, position.retries, failure);
  if (retry) {
    recordPosition(execution);
    const due = surroundings.clock.now() + retry.delaySeconds * 1_000;
    recordNow(execution, { t: "retry", retrier: retry.retrier, due });
    return undefined;
  }
  position.attempt = undefined;
  const catcher = state.catch.find(({ errorEquals }) => matchesError(errorEquals, failure));
  if (!catcher) throw failure;
  const errorOutput = errorOutputOf(failure);
  return leave(execution, catcher.exit, errorOutput, bindingsOf(execution, { errorOutput }));
}

/** Runs a Task state: call, result, Retry, Catch. Throws the TaskError that nothing took. */
export async function runTask(surroundings: Surroundings, execution: Execution, state: TaskState): Promise<Step> {
  const { position } = execution;
  for (;;) {
    if (position.retryDue !== undefined) {
      await pauseUntil(surroundings, execution, position.retryDue);
      position.retryDue = undefined;
    }
    try {
      const result = await attemptTask(surroundings, execution, state);
      recordEvent(execution, surroundings.clock.now(), "TaskSucceeded", { resource: state.resource });
      return await leave(execution, state.exit, result, bindingsOf(execution, { result }));
    } catch (error) {
      if (error instanceof Interrupted || isOver(execution)) throw new Interrupted();
      if (error instanceof JournalBroken) throw error;
      const step = await retryOrCatch(surroundings, execution, state, locate(execution, asTaskError(error)));
      if (step) return step;
    }
  }
}
