import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import type { TaskDefinitionRecord } from "./records.ts";
import type { StandaloneTaskRecord } from "./store.ts";
import { startTask, type Task } from "./task.ts";

/** Stopped tasks are kept this long, so that a repeated client token finds its task. */
const keptMs = 24 * 3_600_000;

export interface TaskRequest {
  definition: TaskDefinitionRecord;
  group: string;
  startedBy: string;
  clientToken: string | undefined;
  /** Replaces the image's command. */
  command: readonly string[] | undefined;
}

/** Tasks that RunTask starts outside of services: each runs once, and a repeated client token starts no second one. */
export class RunTasks {
  readonly #cluster: Cluster;
  readonly #running = new Map<string, Task>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    for (const found of cluster.store.tasks.values()) this.#endInterrupted(found);
  }

  /** A task of an earlier process has ended with it: it is not started again. */
  #endInterrupted({ task }: StandaloneTaskRecord): void {
    const now = this.#cluster.host.now();
    if (task.lastStatus !== "STOPPED") {
      task.lastStatus = "STOPPED";
      task.desiredStatus = "STOPPED";
      task.stopCode = "EssentialContainerExited";
      task.stoppedReason = "The machine was restarted";
      task.stoppedAt = now;
      task.stoppingAt ??= now;
    }
    if (now - (task.stoppedAt ?? now) > keptMs) this.#cluster.store.removeTask(task.id);
  }

  /** Every task that is still known, also stopped ones. */
  get all(): StandaloneTaskRecord[] {
    return [...this.#cluster.store.tasks.values()];
  }

  /** Starts a task, or gives the one that was started with the same client token. */
  async run({ definition, group, startedBy, clientToken, command }: TaskRequest): Promise<StandaloneTaskRecord> {
    const { store, host } = this.#cluster;
    const known = clientToken === undefined ? undefined : this.all.find((one) => one.clientToken === clientToken);
    if (known) return known;
    const start = startTask(host, definition, { startedBy, command, isHeld: true });
    const record: StandaloneTaskRecord = {
      task: start.record,
      group,
      ...(clientToken !== undefined && { clientToken }),
    };
    this.#running.set(start.record.id, start);
    // The record is on disk before the process starts, so that a crash cannot lead to a second one.
    await store.saveTask(record);
    start.release();
    const save = () => store.saveTask(record).catch(() => {});
    void start.started.then(save);
    void start.stopped.then(() => {
      this.#running.delete(start.record.id);
      return save();
    });
    return record;
  }

  /** Sends SIGTERM to a running task, and SIGKILL after its time; false if it does not run. */
  stop(id: string, reason: string): boolean {
    const task = this.#running.get(id);
    void task?.stop("UserInitiated", reason);
    return task !== undefined;
  }

  /** Ends every task with at most `graceMs` between SIGTERM and SIGKILL. */
  async close(graceMs: number): Promise<void> {
    const reason = "The local service is stopping.";
    const ended = [...this.#running.values()].map((task) => task.stop("ServiceSchedulerInitiated", reason, graceMs));
    await Promise.race([Promise.all(ended), delay(graceMs + 500, undefined, { ref: false })]);
  }
}
