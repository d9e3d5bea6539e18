/** The paused database did not resume in time; the caller may retry. */
export class DatabaseResuming extends Error {
  override readonly name = "DatabaseResuming";
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super("The database is resuming");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A statement did not answer within its time. It ended without a commit, or its result was lost; the caller may retry. */
export class DatabaseTimeout extends Error {
  override readonly name = "DatabaseTimeout";
}

/** PostgreSQL refused a statement. Contains the SQLSTATE and the constraint, never the statement or a value. */
export class DatabaseError extends Error {
  readonly state: string;
  readonly constraint: string | null;

  constructor(state: string, constraint: string | null) {
    super(`PostgreSQL refused a statement with ${state}`);
    this.name = "DatabaseError";
    this.state = state;
    this.constraint = constraint;
  }
}

/** ECS refuses a change of a service for now; the state machine reads the service again and retries. */
export class ServiceChangeRefused extends Error {
  override readonly name = "ServiceChangeRefused";
  readonly $retryable = true;
}
