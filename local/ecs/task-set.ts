import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { healthCheckOf, passesCheck, untilHealthy } from "./health.ts";
import type { RevisionRecord, TaskDefinitionRecord } from "./records.ts";
import { containerPortOf, startTask, type Task, type TaskHost } from "./task.ts";

/** Permission to send one request to a task; a deployment does not stop the task before the lease is released. */
export interface Lease {
  address: string;
  port: number;
  agent: Agent;
  release(): void;
}

export interface TaskSetEvents {
  onStarted(task: Task): void;
  onStopped(task: Task): void;
  onUnhealthy(reason: string): void;
}

const backOffMsMin = 250;
const backOffMsMax = 30_000;
/** After a task that ran at least this long, the restart delay starts again at its minimum. */
const stableMs = 60_000;
const drainMsMax = 30_000;
const recheckMs = 100;

/** Keeps one task of a revision running, as the service scheduler of ECS does, and leases it to requests. */
export class TaskSet {
  readonly revision: RevisionRecord;
  readonly #host: TaskHost;
  readonly #definition: TaskDefinitionRecord;
  readonly #events: TaskSetEvents;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<() => void>();
  #loop: Promise<void> | undefined;
  #task: Task | undefined;
  #target: { address: string; port: number; agent: Agent } | undefined;
  #healthy = false;
  #wasHealthy = false;
  #failures = 0;
  #inFlight = 0;

  constructor(host: TaskHost, definition: TaskDefinitionRecord, revision: RevisionRecord, events: TaskSetEvents) {
    this.#host = host;
    this.#definition = definition;
    this.revision = revision;
    this.#events = events;
  }

  /** True while a request should wait because the task is being started for the first or second time. */
  get isExpected(): boolean {
    return this.#loop !== undefined && !this.#ending.signal.aborted && this.#failures <= 1;
  }

  start(): void {
    this.#loop ??= this.#keepRunning();
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const task = startTask(this.#host, this.#definition, this.revision);
      this.#task = task;
      this.#events.onStarted(task);
      const startedAt = performance.now();
      await this.#serve(task);
      this.#task = undefined;
      this.#failures = performance.now() - startedAt > stableMs ? 1 : this.#failures + 1;
      this.#events.onStopped(task);
      this.#wake();
      if (signal.aborted) return;
      const backOffMs = Math.min(backOffMsMin * 2 ** (this.#failures - 1), backOffMsMax);
      await delay(backOffMs, undefined, { signal }).catch(() => {});
    }
  }

  async #serve(task: Task): Promise<void> {
    const over = new AbortController();
    const pgid = await task.started;
    const watching = pgid === undefined ? undefined : this.#watch(task, pgid, over.signal);
    await task.stopped;
    over.abort();
    await watching;
    this.#healthy = false;
    // The connections stay open: they may hold an answer that has not been read yet.
    this.#target = undefined;
  }

  async #watch(task: Task, pgid: number, signal: AbortSignal): Promise<void> {
    const check = healthCheckOf(this.revision.gatewayConnectors[0]);
    const { port, address } = task;
    try {
      await untilHealthy({
        address,
        port,
        containerPort: containerPortOf(this.#definition),
        pgid,
        check,
        signal,
        // A load balancer sends requests to unhealthy targets when it has no healthy one.
        onAnswer: () => this.#wasHealthy && this.#open(task),
        onUnhealthy: (reason) => {
          task.record.health = "UNHEALTHY";
          this.#events.onUnhealthy(reason);
        },
        onWrongAddress: (notice) => task.note(notice),
      });
    } catch {
      return;
    }
    task.record.health = "HEALTHY";
    this.#healthy = true;
    this.#wasHealthy = true;
    this.#open(task);
  }

  #open({ address, port }: Task): void {
    this.#target ??= { address, port, agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }) };
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
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

  /** Resolves when the current task passesCheck the gateway's health check; rejects when `signal` aborts. */
  async whenHealthy(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.#healthy) {
      await this.changed(signal);
      signal.throwIfAborted();
    }
  }

  /** Like `whenHealthy`, but runs the health check again, because the task may have hung or exited since the last one. */
  async whenStillHealthy(signal: AbortSignal): Promise<void> {
    const check = healthCheckOf(this.revision.gatewayConnectors[0]);
    for (;;) {
      await this.whenHealthy(signal);
      const task = this.#task;
      const passed = task !== undefined && (await passesCheck(task, check, signal));
      signal.throwIfAborted();
      if (passed && this.#healthy && this.#task === task) return;
      await delay(recheckMs, undefined, { signal });
    }
  }

  /** A lease on the running task, or undefined if no task can take a request. */
  lease(): Lease | undefined {
    const target = this.#target;
    if (!target) return undefined;
    this.#inFlight++;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      this.#inFlight--;
      if (this.#inFlight === 0) this.#wake();
    };
    return { ...target, release };
  }

  /** Ends the task and starts no other. The time between SIGTERM and SIGKILL is at most `graceMsMax`. */
  async stop(reason: string, graceMsMax?: number): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await this.#task?.stop("ServiceSchedulerInitiated", reason, graceMsMax);
    await this.#loop;
  }

  /** Waits up to 30 s for the requests in flight, then ends the task. */
  async drain(reason: string): Promise<void> {
    this.#ending.abort();
    const deadline = performance.now() + drainMsMax;
    while (this.#inFlight > 0 && this.#task && performance.now() < deadline) {
      await this.changed(undefined, Math.max(1, deadline - performance.now()));
    }
    // Some apps exit only after their idle connections are closed; without this they would end by SIGKILL.
    if (this.#inFlight === 0) this.#target?.agent.destroy();
    await this.stop(reason);
  }
}
