/** Fails a Task with an ASL error name; integrations throw it. `cause` is any text; AWS uses JSON. */
export class TaskError extends Error {
  readonly error: string;
  override readonly cause: string | undefined;

  constructor(error: string, cause?: string) {
    super(cause === undefined ? error : `${error}: ${cause}`);
    this.error = error;
    this.cause = cause;
  }
}

/** A definition is invalid on AWS or uses a feature that this interpreter does not support; lists all problems. */
export class DefinitionError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The state machine cannot be loaded:\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.name = "DefinitionError";
    this.problems = problems;
  }
}

/** The execution was stopped or timed out, or the service closes: its pause ends and it writes nothing more. */
export class Interrupted extends Error {}

/** The journal of an execution cannot be written: the execution pauses until the next resume. */
export class JournalBroken extends Error {}

/** The error names of ASL and Step Functions; a definition may use no other `States.` error. */
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

/** A failure that was reported without an error name: only States.ALL matches it, and its error output is null, as on AWS. */
export class UnnamedError extends TaskError {
  constructor(cause?: string) {
    super("States.TaskFailed", cause);
  }
}

/** The error and cause of a failure for history and API, without an error if none was named. */
export function reasonOf(failure: TaskError): { error?: string; cause?: string } {
  const { error, cause } = failure;
  return { ...(failure instanceof UnnamedError ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}

/** The value of `$states.errorOutput` for a failure. */
export function errorOutputOf(failure: TaskError): object {
  const { error, cause } = failure;
  if (failure instanceof UnnamedError) return { Error: null, Cause: cause ?? null };
  return { Error: error, ...(cause === undefined ? {} : { Cause: cause }) };
}

/** A missed heartbeat. AWS reports it as States.Timeout; retriers and catchers may use either name. */
export class HeartbeatTimeout extends TaskError {
  constructor() {
    super("States.Timeout");
  }
}

/** Whether ErrorEquals of a retrier or catcher matches this failure (Step Functions guide, "Handling errors"). */
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

/** Converts the error of a state: an error of an integration that is not a TaskError becomes States.TaskFailed. */
export function asTaskError(error: unknown): TaskError {
  if (error instanceof TaskError) return error;
  const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new TaskError("States.TaskFailed", cause);
}
