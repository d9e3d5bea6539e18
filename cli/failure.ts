/** A command that cannot go on; the message is a sentence for the user, the exit code is 1. */
export class Failure extends Error {
  override readonly name = "Failure";
}

/** A command line that cannot be understood; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Ctrl-C or another signal; the exit code is 128 plus the signal's number, as in a shell. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("interrupted");
    this.exitCode = exitCode;
  }
}
