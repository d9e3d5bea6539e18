import { setTimeout as delay } from "node:timers/promises";
import { Instance, type InstanceContext, type Lease, type TaskSetEvents } from "./instance.ts";
import type { RevisionRecord, TaskDefinitionRecord } from "./records.ts";
import type { TaskHost } from "./task.ts";

const recheckMs = 100;

/** Keeps the tasks of a revision running, as many as its count says, and leases them to requests in turn. */
export class TaskSet {
  readonly revision: RevisionRecord;
  readonly #context: InstanceContext;
  readonly #waiting = new Set<() => void>();
  #instances: Instance[] = [];
  #turn = 0;
  #isEnding = false;

  constructor(host: TaskHost, definition: TaskDefinitionRecord, revision: RevisionRecord, events: TaskSetEvents) {
    this.revision = revision;
    this.#context = {
      host,
      definition,
      revision,
      events,
      onChange: () => {
        for (const wake of [...this.#waiting]) wake();
      },
      changed: (signal, timeoutMs) => this.changed(signal, timeoutMs),
    };
  }

  /** True while a request should wait because a task is being started for the first or second time. */
  get isExpected(): boolean {
    return this.#instances.some((instance) => instance.isExpected);
  }
  /** How many tasks can take a request. */
  get openCount(): number {
    return this.#instances.filter(({ isOpen }) => isOpen).length;
  }

  /** Starts the tasks that are missing and drains those that are too many. */
  start(): void {
    if (this.#isEnding) return;
    const count = this.revision.count ?? 1;
    while (this.#instances.length < count) this.#instances.push(new Instance(this.#context));
    for (const surplus of this.#instances.splice(count)) void surplus.drain("The service was scaled down.");
  }

  /** Resolves at the next change, when `signal` aborts, or after `timeoutMs`. */
  async changed(signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(done, timeoutMs);
      signal?.addEventListener("abort", done);
      this.#waiting.add(done);
      if (signal?.aborted) done();
    });
  }

  /** Resolves when every task passes the gateway's health check; rejects when `signal` aborts. */
  async whenHealthy(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.#instances.every(({ isHealthy }) => isHealthy)) {
      await this.changed(signal);
      signal.throwIfAborted();
    }
  }

  /** Like `whenHealthy`, but runs the health checks again, because a task may have hung or exited since the last one. */
  async whenStillHealthy(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.whenHealthy(signal);
      const checked = await Promise.all(this.#instances.map((instance) => instance.isStillHealthy(signal)));
      signal.throwIfAborted();
      if (checked.every(Boolean)) return;
      await delay(recheckMs, undefined, { signal });
    }
  }

  /** A lease on the next task in turn, or undefined if no task can take a request. */
  lease(): Lease | undefined {
    const open = this.#instances.filter(({ isOpen }) => isOpen);
    this.#turn += 1;
    return open[this.#turn % open.length]?.lease();
  }

  /** Ends the tasks and starts no others. The time between SIGTERM and SIGKILL is at most `graceMsMax`. */
  async stop(reason: string, graceMsMax?: number): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#instances.map((instance) => instance.stop(reason, graceMsMax)));
  }

  /** Waits up to 30 s for the requests in flight of each task, then ends it. */
  async drain(reason: string): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#instances.map((instance) => instance.drain(reason)));
  }
}
