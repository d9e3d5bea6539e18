import { AwsError } from "../aws/service.ts";
import type { CodeBuildBehavior } from "./behavior.ts";

/** Lets a number of builds run at a time; the others wait in the order of their start. */
export class BuildQueue {
  readonly #behavior: CodeBuildBehavior;
  #running = 0;
  #waiting: (() => void)[] = [];

  constructor(behavior: CodeBuildBehavior) {
    this.#behavior = behavior;
  }

  /** Throws AccountLimitExceededException if no further build may be queued. */
  refuseIfFull(): void {
    const { concurrentBuilds, queuedBuilds } = this.#behavior;
    if (this.#running < concurrentBuilds || this.#waiting.length < queuedBuilds) return;
    const message = `Cannot have more than ${queuedBuilds} builds in queue for the account`;
    throw new AwsError("AccountLimitExceededException", message);
  }

  /** Resolves when the build may run, or its signal aborts; the result must be called when the build has ended. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#running < this.#behavior.concurrentBuilds) this.#running += 1;
    else if (!(await this.#turn(signal))) return () => {};
    return () => this.#leave();
  }

  /** True if a build has ended and this one may run, false if the signal aborted. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const proceed = () => resolve(true);
      this.#waiting.push(proceed);
      const give = () => {
        this.#waiting = this.#waiting.filter((one) => one !== proceed);
        resolve(false);
      };
      signal.addEventListener("abort", give, { once: true });
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
