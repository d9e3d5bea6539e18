import { attemptTask } from "./attempt.ts";
import { asTaskError, errorOutputOf, Interrupted, JournalBroken, matchesError, reasonOf, TaskError } from "./errors.ts";
import { type Execution, isOver, recordNow } from "./execution.ts";
import { nextRetry } from "./retry.ts";
import type { TaskState } from "./states.ts";
import { bindingsOf, exitState, pauseUntil, type Runtime, recordEvent, recordPosition, type Step } from "./step.ts";

/** Adds the state to the cause of a JSONata error, as on AWS. */
export function addStateToCause(execution: Execution, failure: TaskError): TaskError {
  if (failure.error !== "States.QueryEvaluationError" || failure.cause?.startsWith("An error occurred")) return failure;
  const entered = execution.history.findLastIndex((event) => event.type.endsWith("StateEntered")) + 1;
  const where = `An error occurred while executing the state '${execution.position.state}'`;
  return new TaskError(failure.error, `${where} (entered at the event id #${entered}). ${failure.cause ?? ""}`);
}

function recordFailure(runtime: Runtime, execution: Execution, state: TaskState, failure: TaskError): void {
  const type = failure.error === "States.Timeout" ? "TaskTimedOut" : "TaskFailed";
  recordEvent(execution, runtime.clock.now(), type, { resource: state.resource, ...reasonOf(failure) });
}

async function retryOrCatch(
  runtime: Runtime,
  execution: Execution,
  state: TaskState,
  failure: TaskError,
): Promise<Step | undefined> {
  const { position } = execution;
  recordFailure(runtime, execution, state, failure);
  const retry = nextRetry(state.retry, position.retries, failure);
  if (retry) {
    recordPosition(execution);
    const due = runtime.clock.now() + retry.delaySeconds * 1_000;
    recordNow(execution, { t: "retry", retrier: retry.retrier, due });
    return undefined;
  }
  position.attempt = undefined;
  const catcher = state.catch.find(({ errorEquals }) => matchesError(errorEquals, failure));
  if (!catcher) throw failure;
  const errorOutput = errorOutputOf(failure);
  return exitState(execution, catcher.exit, errorOutput, bindingsOf(execution, { errorOutput }));
}

/** Runs a Task state: call, result, Retry, Catch. Throws a TaskError that no retrier or catcher handled. */
export async function runTask(runtime: Runtime, execution: Execution, state: TaskState): Promise<Step> {
  const { position } = execution;
  for (;;) {
    if (position.retryDue !== undefined) {
      await pauseUntil(runtime, execution, position.retryDue);
      position.retryDue = undefined;
    }
    try {
      const result = await attemptTask(runtime, execution, state);
      recordEvent(execution, runtime.clock.now(), "TaskSucceeded", { resource: state.resource });
      return await exitState(execution, state.exit, result, bindingsOf(execution, { result }));
    } catch (error) {
      if (error instanceof Interrupted || isOver(execution)) throw new Interrupted();
      if (error instanceof JournalBroken) throw error;
      const step = await retryOrCatch(runtime, execution, state, addStateToCause(execution, asTaskError(error)));
      if (step) return step;
    }
  }
}
