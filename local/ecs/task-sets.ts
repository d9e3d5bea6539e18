import type { Cluster } from "./cluster.ts";
import { keepStopped } from "./events.ts";
import { RollBack } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import { containerPortOf, isRunning, type RevisionRecord } from "./records.ts";
import type { Task } from "./task.ts";
import { TaskSet } from "./task-set.ts";

/** The time between SIGTERM and SIGKILL for a revision that never had production traffic. */
const rejectedGraceMs = 5000;

/** The task sets of one service, by revision. */
export class TaskSets {
  readonly #cluster: Cluster;
  readonly #journal: Journal;
  readonly #sets = new Map<string, TaskSet>();
  readonly #ending = new Set<Promise<void>>();
  readonly #tasks = new Set<Task>();

  constructor(cluster: Cluster, journal: Journal) {
    this.#cluster = cluster;
    this.#journal = journal;
  }

  /** Tasks that have not stopped yet. */
  get tasks(): Task[] {
    return [...this.#tasks];
  }

  find(arn: string | undefined): TaskSet | undefined {
    return arn === undefined ? undefined : this.#sets.get(arn);
  }

  /** The task set of a revision, created if needed; throws RollBack if the task definition does not exist. */
  ensure(arn: string): TaskSet {
    const known = this.#sets.get(arn);
    if (known) return known;
    const revision = this.#journal.record.revisions.find((candidate) => candidate.arn === arn);
    const made = this.#make(revision);
    this.#sets.set(arn, made);
    return made;
  }

  #make(revision: RevisionRecord | undefined): TaskSet {
    const definition = revision && this.#cluster.store.taskDefinitions.get(revision.taskDefinition);
    if (!definition) throw new RollBack("The task definition of the service revision does not exist.");
    const journal = this.#journal;
    const targetGroup = this.#cluster.arns.route(journal.record.name, revision.gatewayConnectors[0].portName);
    const unhealthy = `(port ${containerPortOf(definition)}) is unhealthy in (target-group ${targetGroup})`;
    return new TaskSet(this.#cluster.host, definition, revision, {
      onStarted: (task) => {
        this.#tasks.add(task);
        journal.event(`has started 1 tasks: (task ${task.record.id}).`);
      },
      onStopped: (task) => this.#stopped(task, revision),
      onUnhealthy: (reason) => journal.repeated(`${unhealthy} due to (reason ${reason})`, revision.createdAt),
    });
  }

  #stopped(stopped: Task, revision: RevisionRecord): void {
    const { record } = this.#journal;
    const { record: task } = stopped;
    this.#tasks.delete(stopped);
    keepStopped(record, this.#journal.now(), task);
    const deployment = record.deployments.find(isRunning);
    if (deployment?.target === revision.arn && task.stopCode !== "ServiceSchedulerInitiated") deployment.failedTasks++;
    if (task.stopCode === "TaskFailedToStart")
      this.#journal.event(`(task ${task.id}) failed to start: ${task.stoppedReason}.`);
    else this.#journal.event(`has stopped 1 running tasks: (task ${task.id}).`);
  }

  /** Ends a task set, after its requests in flight ("drain") or at once ("reject"); resolves when its tasks have ended. */
  end(arn: string | undefined, how: "drain" | "reject"): Promise<void> {
    const set = this.find(arn);
    if (!set || arn === undefined) return Promise.resolve();
    this.#sets.delete(arn);
    const reason = `Scaling activity initiated by (deployment ${set.revision.startedBy})`;
    const left = how === "drain" ? set.drain(reason) : set.stop(reason, rejectedGraceMs);
    this.#ending.add(left);
    return left.finally(() => this.#ending.delete(left));
  }

  /** Drains all task sets; resolves when all tasks have ended. */
  async endAll(): Promise<void> {
    for (const arn of [...this.#sets.keys()]) void this.end(arn, "drain");
    await Promise.all(this.#ending);
  }

  /** Ends every task, also those that are draining, with at most `graceMs` between SIGTERM and SIGKILL. */
  async stopAll(graceMs: number): Promise<void> {
    const reason = "The local service is stopping.";
    const sets = [...this.#sets.values()].map((set) => set.stop(reason, graceMs));
    const tasks = this.tasks.map((task) => task.stop("ServiceSchedulerInitiated", reason, graceMs));
    await Promise.all([...sets, ...tasks]);
  }
}
