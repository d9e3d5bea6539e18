/** Fails a Task with an ASL error name; `cause` is free text, JSON by convention of AWS. Integrations throw it. */
export class TaskError extends Error {
  readonly error: string;
  override readonly cause: string | undefined;

  constructor(error: string, cause?: string) {
    super(cause === undefined ? error : `${error}: ${cause}`);
    this.error = error;
    this.cause = cause;
  }
}

/** A definition that AWS would refuse, or that holds something this interpreter does not cover; lists every problem. */
export class DefinitionError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The state machine cannot be loaded:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.name = "DefinitionError";
    this.problems = problems;
  }
}

/** The execution was stopped, timed out, or the service closes: its pause ends and nothing more is written. */
export class Interrupted extends Error {}

/** An execution's journal cannot be written: the execution pauses until the next resume. */
export class JournalBroken extends Error {}

/** The error names of the States Language and of Step Functions; a definition may name no other `States.` error. */
export const STATES_ERRORS: ReadonlySet<string> = new Set([
  "States.ALL",
  "States.BranchFailed",
  "States.DataLimitExceeded",
  "States.ExceedToleratedFailureThreshold",
  "States.HeartbeatTimeout",
  "States.Http.Socket",
  "States.IntrinsicFailure",
  "States.ItemReaderFailed",
  "States.NoChoiceMatched",
  "States.ParameterPathFailure",
  "States.Permissions",
  "States.QueryEvaluationError",
  "States.ResultPathMatchFailure",
  "States.ResultWriterFailed",
  "States.Runtime",
  "States.TaskFailed",
  "States.Timeout",
]);

/** A failure that was reported without an error's name: States.ALL takes it, and its error output says null, as in AWS. */
export class UnnamedError extends TaskError {
  constructor(cause?: string) {
    super("States.TaskFailed", cause);
  }
}

/** A failure as history and API tell it: no error where none was named. */
export function reasonOf(failure: TaskError): { error?: string; cause?: string } {
  const { error, cause } = failure;
  return { ...(failure instanceof UnnamedError ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}

/** A failure as `$states.errorOutput` tells it. */
export function errorOutputOf(failure: TaskError): object {
  const { error, cause } = failure;
  if (failure instanceof UnnamedError) return { Error: null, Cause: cause ?? null };
  return { Error: error, ...(cause === undefined ? {} : { Cause: cause }) };
}

/** A missed heartbeat: AWS reports it as States.Timeout, and a retrier or catcher may name either error. */
export class HeartbeatTimeout extends TaskError {
  constructor() {
    super("States.Timeout");
  }
}

/** Whether a retrier's or catcher's ErrorEquals takes this failure (Step Functions guide, "Handling errors"). */
export function matchesError(errorEquals: readonly string[], failure: TaskError): boolean {
  if (failure.error === "States.Runtime") return false;
  return errorEquals.some((name) => {
    if (name === failure.error) return true;
    if (name === "States.HeartbeatTimeout") return failure instanceof HeartbeatTimeout;
    if (failure.error === "States.DataLimitExceeded") return false;
    if (name === "States.TaskFailed") return failure.error !== "States.Timeout";
    return name === "States.ALL";
  });
}

/** What a state failed with: anything that is not a TaskError is a defect of an integration, named States.TaskFailed. */
export function asTaskError(error: unknown): TaskError {
  if (error instanceof TaskError) return error;
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new TaskError("States.TaskFailed", cause);
}
