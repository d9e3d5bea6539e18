import type { Answer } from "../store/journal.ts";
import { HeartbeatTimeout, TaskError, UnnamedError } from "./errors.ts";
import { type Attempt, type Execution, record, recordNow } from "./execution.ts";
import { integrationOf } from "./resources.ts";
import type { TaskState } from "./states.ts";
import { bindingsOf, limitSize, pause, type Resolver, type Runtime, recordEvent, recordPosition } from "./step.ts";
import { issueToken } from "./task-token.ts";
import { evaluate, evaluateAs, type Template } from "./template.ts";

const isSeconds = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 99_999_999;

async function secondsOf(execution: Execution, template: Template | undefined): Promise<number | undefined> {
  return template && evaluateAs(template, bindingsOf(execution), "positive integer", isSeconds);
}

/** Starts an attempt; its deadlines and its token are in the journal before the call. */
async function beginAttempt(runtime: Runtime, execution: Execution, state: TaskState): Promise<Attempt> {
  const timeoutSeconds = await secondsOf(execution, state.timeoutSeconds);
  const heartbeatSeconds = await secondsOf(execution, state.heartbeatSeconds);
  const now = runtime.clock.now();
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
  if (!attempt) throw new Error("The recorded attempt does not exist");
  return attempt;
}

function resolveWith(answer: Answer, resolver: Resolver<unknown>): void {
  if ("error" in answer)
    resolver.fail(answer.error === null ? new UnnamedError(answer.cause) : new TaskError(answer.error, answer.cause));
  else resolver.done(answer.output);
}

/** Sets the timers for the deadline and the heartbeat of an attempt; returns a function that cancels them. */
function armDeadlines(runtime: Runtime, execution: Execution, attempt: Attempt, resolver: Resolver<unknown>) {
  const { clock } = runtime;
  const { deadline, heartbeatSeconds } = attempt;
  const cancelDeadline =
    deadline === undefined ? undefined : clock.at(deadline, () => resolver.fail(new TaskError("States.Timeout")));
  let cancelHeartbeat: (() => void) | undefined;
  const armHeartbeat = () => {
    cancelHeartbeat?.();
    if (heartbeatSeconds === undefined) return;
    cancelHeartbeat = clock.at(attempt.aliveAt + heartbeatSeconds * 1_000, () => resolver.fail(new HeartbeatTimeout()));
  };
  armHeartbeat();
  execution.onHeartbeat = armHeartbeat;
  return () => {
    cancelDeadline?.();
    cancelHeartbeat?.();
    execution.onHeartbeat = undefined;
  };
}

/** Makes the call and returns a function that aborts it. For a task with a token, the result only means "submitted". */
function call(
  runtime: Runtime,
  execution: Execution,
  state: TaskState,
  args: unknown,
  resolver: Resolver<unknown>,
  submitted: () => void,
): () => void {
  const integration = integrationOf(runtime.integrations, state.resource);
  const controller = new AbortController();
  runtime.calls.add(controller);
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
    .then((result) => (state.token ? submitted() : resolver.done(result)), resolver.fail)
    .catch(resolver.fail)
    .finally(() => runtime.calls.delete(controller));
  return () => {
    if (runtime.calls.has(controller)) controller.abort();
  };
}

/** Runs one attempt of a Task. After a restart it continues with the same token and deadlines. */
export async function attemptTask(runtime: Runtime, execution: Execution, state: TaskState): Promise<unknown> {
  const attempt = execution.position.attempt ?? (await beginAttempt(runtime, execution, state));
  const callNeeded = !attempt.submitted && !attempt.answer;
  const args = callNeeded ? await evaluate(state.args, bindingsOf(execution)) : undefined;
  if (callNeeded) limitSize(args, `input of the task '${execution.position.state}'`);
  execution.journal.flush();
  const now = runtime.clock.now();
  if (!attempt.answer && now >= (attempt.deadline ?? Number.POSITIVE_INFINITY)) throw new TaskError("States.Timeout");
  return pause<unknown>(execution, (resolver) => {
    let paused = true;
    const disarm = armDeadlines(runtime, execution, attempt, resolver);
    const park = () => {
      execution.parked = true;
      runtime.changed();
    };
    const submitted = () => {
      if (!paused || execution.position.attempt !== attempt) return;
      recordEvent(execution, runtime.clock.now(), "TaskSubmitted", { resource: state.resource });
      recordNow(execution, { t: "submitted" });
      park();
    };
    execution.onAnswer = () => attempt.answer && resolveWith(attempt.answer, resolver);
    const abort = callNeeded ? call(runtime, execution, state, args, resolver, submitted) : () => {};
    if (attempt.answer) resolveWith(attempt.answer, resolver);
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
