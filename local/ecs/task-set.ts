import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { healthCheckOf, passes, untilHealthy } from "./health.ts";
import type { RevisionRecord, TaskDefinitionRecord } from "./records.ts";
import { containerPortOf, startTask, type Task, type TaskHost } from "./task.ts";

/** The right to send one request to a task; the task is not stopped for a deployment before it is released. */
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
/** A task that ran this long ended for a reason of its own: the next one is started soon again. */
const provenMs = 60_000;
const drainMsMax = 30_000;
const recheckMs = 100;

/** Keeps one task of a revision running, as the service scheduler of ECS would, and says where its traffic goes. */
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
  #provedItself = false;
  #failures = 0;
  #inFlight = 0;

  constructor(host: TaskHost, definition: TaskDefinitionRecord, revision: RevisionRecord, events: TaskSetEvents) {
    this.#host = host;
    this.#definition = definition;
    this.revision = revision;
    this.#events = events;
  }

  /** True while a request had better wait a moment: the task is being started for the first or second time. */
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
      this.#failures = performance.now() - startedAt > provenMs ? 1 : this.#failures + 1;
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
    // Its connections are left alone: an answer may have arrived that has not been read yet.
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
        // When every target is unhealthy, a load balancer sends requests all the same.
        onAnswer: () => this.#provedItself && this.#open(task),
        onUnhealthy: (reason) => {
          task.record.health = "UNHEALTHY";
          this.#events.onUnhealthy(reason);
        },
        onMisplaced: (notice) => task.note(notice),
      });
    } catch {
      return;
    }
    task.record.health = "HEALTHY";
    this.#healthy = true;
    this.#provedItself = true;
    this.#open(task);
  }

  #open({ address, port }: Task): void {
    this.#target ??= { address, port, agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }) };
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next change, or when `signal` aborts or the time is over. */
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

  /** Resolves when the current task passes the gateway's health check; rejects when `signal` aborts. */
  async whenHealthy(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.#healthy) {
      await this.changed(signal);
      signal.throwIfAborted();
    }
  }

  /** Like `whenHealthy`, but the task has just been asked again: it may have hung or died since it was found healthy. */
  async whenStillHealthy(signal: AbortSignal): Promise<void> {
    const check = healthCheckOf(this.revision.gatewayConnectors[0]);
    for (;;) {
      await this.whenHealthy(signal);
      const task = this.#task;
      const passed = task !== undefined && (await passes(task, check, signal));
      signal.throwIfAborted();
      if (passed && this.#healthy && this.#task === task) return;
      await delay(recheckMs, undefined, { signal });
    }
  }

  /** A lease on the running task, or undefined while there is none to send a request to. */
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

  /** Ends the set now; nothing is started again. The time between SIGTERM and SIGKILL is at most `graceMsMax`. */
  async stop(reason: string, graceMsMax?: number): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await this.#task?.stop("ServiceSchedulerInitiated", reason, graceMsMax);
    await this.#loop;
  }

  /** Lets the requests that are on their way finish, for at most 30 s, then ends the set. */
  async drain(reason: string): Promise<void> {
    this.#ending.abort();
    const late = performance.now() + drainMsMax;
    while (this.#inFlight > 0 && this.#task && performance.now() < late) {
      await this.changed(undefined, Math.max(1, late - performance.now()));
    }
    // An app that waits for its idle connections to close would otherwise be ended by SIGKILL.
    if (this.#inFlight === 0) this.#target?.agent.destroy();
    await this.stop(reason);
  }
}
