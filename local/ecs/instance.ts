import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { healthCheckOf, passesCheck, untilHealthy } from "./health.ts";
import { containerPortOf, type RevisionRecord, type TaskDefinitionRecord } from "./records.ts";
import { startTask, type Task, type TaskHost } from "./task.ts";
import type { RunningTask } from "./task-runner.ts";

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

/** What the instances of a revision share. */
export interface InstanceContext {
  host: TaskHost;
  definition: TaskDefinitionRecord;
  revision: RevisionRecord;
  events: TaskSetEvents;
  /** Called after every change for which a request or a deployment may wait. */
  onChange(): void;
  /** Resolves at the next change, when `signal` aborts, or after `timeoutMs`. */
  changed(signal?: AbortSignal, timeoutMs?: number): Promise<void>;
}

const backOffMsMin = 250;
const backOffMsMax = 30_000;
/** After a task that ran at least this long, the restart delay starts again at its minimum. */
const stableMs = 60_000;
const drainMsMax = 30_000;

/** Keeps one task of a revision running, as the service scheduler of ECS does, and leases it to requests. */
export class Instance {
  readonly #context: InstanceContext;
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;
  #task: Task | undefined;
  #running: RunningTask | undefined;
  #target: { address: string; port: number; agent: Agent } | undefined;
  #healthy = false;
  #wasHealthy = false;
  #failures = 0;
  #inFlight = 0;

  constructor(context: InstanceContext) {
    this.#context = context;
    this.#loop = this.#keepRunning();
  }

  /** True while a request should wait because the task is being started for the first or second time. */
  get isExpected(): boolean {
    return !this.#ending.signal.aborted && this.#failures <= 1;
  }
  /** Whether the current task has passed the gateway's health check. */
  get isHealthy(): boolean {
    return this.#healthy;
  }
  /** Whether a task runs that can take requests. */
  get isOpen(): boolean {
    return this.#target !== undefined;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#ending;
    const { host, definition, revision, events } = this.#context;
    while (!signal.aborted) {
      const task = startTask(host, definition, revision);
      this.#task = task;
      events.onStarted(task);
      const startedAt = performance.now();
      await this.#serve(task);
      this.#task = undefined;
      this.#failures = performance.now() - startedAt > stableMs ? 1 : this.#failures + 1;
      events.onStopped(task);
      this.#context.onChange();
      if (signal.aborted) return;
      const backOffMs = Math.min(backOffMsMin * 2 ** (this.#failures - 1), backOffMsMax);
      await this.#rest(backOffMs);
    }
  }

  /** Waits the back-off of a restart, or less if the engine was away and is back. */
  async #rest(backOffMs: number): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#ending.signal]);
    const waits = [delay(backOffMs, undefined, { signal }), this.#context.host.runner.back?.(signal)];
    await Promise.race(waits.filter((wait) => wait !== undefined)).catch(() => {});
    over.abort();
  }

  async #serve(task: Task): Promise<void> {
    const over = new AbortController();
    const running = await task.started;
    const watching = running && this.#watch(task, running, over.signal);
    await task.stopped;
    over.abort();
    await watching;
    this.#healthy = false;
    this.#running = undefined;
    // The connections stay open: they may hold an answer that has not been read yet.
    this.#target = undefined;
  }

  async #watch(task: Task, running: RunningTask, signal: AbortSignal): Promise<void> {
    const { definition, revision, events } = this.#context;
    this.#running = running;
    try {
      await untilHealthy({
        task: running,
        containerPort: containerPortOf(definition),
        check: healthCheckOf(revision.gatewayConnectors[0]),
        signal,
        // A load balancer sends requests to unhealthy targets when it has no healthy one.
        onAnswer: () => this.#wasHealthy && this.#open(running),
        onUnhealthy: (reason) => {
          task.record.health = "UNHEALTHY";
          events.onUnhealthy(reason);
        },
        onWrongAddress: (notice) => task.note(notice),
      });
    } catch {
      return;
    }
    task.record.health = "HEALTHY";
    this.#healthy = true;
    this.#wasHealthy = true;
    this.#open(running);
  }

  #open({ address, port }: RunningTask): void {
    this.#target ??= { address, port, agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }) };
    this.#context.onChange();
  }

  /** Runs the health check again, because the task may have hung or exited since the last one. */
  async isStillHealthy(signal: AbortSignal): Promise<boolean> {
    const running = this.#running;
    const check = healthCheckOf(this.#context.revision.gatewayConnectors[0]);
    const passed = running !== undefined && (await passesCheck(running, check, signal));
    return passed && this.#healthy && this.#running === running;
  }

  /** A lease on the running task, or undefined if it cannot take a request. */
  lease(): Lease | undefined {
    const target = this.#target;
    if (!target) return undefined;
    this.#inFlight++;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      this.#inFlight--;
      if (this.#inFlight === 0) this.#context.onChange();
    };
    return { ...target, release };
  }

  /** Ends the task and starts no other. The time between SIGTERM and SIGKILL is at most `graceMsMax`. */
  async stop(reason: string, graceMsMax?: number): Promise<void> {
    this.#ending.abort();
    this.#context.onChange();
    await this.#task?.stop("ServiceSchedulerInitiated", reason, graceMsMax);
    await this.#loop;
  }

  /** Waits up to 30 s for the requests in flight, then ends the task. */
  async drain(reason: string): Promise<void> {
    this.#ending.abort();
    const deadline = performance.now() + drainMsMax;
    while (this.#inFlight > 0 && this.#task && performance.now() < deadline) {
      await this.#context.changed(undefined, Math.max(1, deadline - performance.now()));
    }
    // Some apps exit only after their idle connections are closed; without this they would end by SIGKILL.
    if (this.#inFlight === 0) this.#target?.agent.destroy();
    await this.stop(reason);
  }
}
