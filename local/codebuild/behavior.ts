/** The limits and delays that the embedded CodeBuild simulates. */
export interface CodeBuildBehavior {
  /** How many builds run at a time; more are queued. */
  concurrentBuilds: number;
  /** How many builds may be queued; more are refused with AccountLimitExceededException. */
  queuedBuilds: number;
  /** The time from the end of the queue to the first command: provisioning. */
  provisioningMs: number;
  /** The time for which an ended build still shows as IN_PROGRESS. */
  statusMs: number;
}

/** Starts every build at once. */
export const kindCodeBuild: CodeBuildBehavior = {
  concurrentBuilds: Number.POSITIVE_INFINITY,
  queuedBuilds: Number.POSITIVE_INFINITY,
  provisioningMs: 0,
  statusMs: 0,
};

/** A new account: one build at a time, and a queue of five times as many. */
export const cloudCodeBuild: CodeBuildBehavior = {
  concurrentBuilds: 1,
  queuedBuilds: 5,
  provisioningMs: 300,
  statusMs: 300,
};
