import type { Cluster } from "./cluster.ts";
import { keepStopped } from "./events.ts";
import { RollBack } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import { isRunning, type RevisionRecord } from "./records.ts";
import { containerPortOf, type Task } from "./task.ts";
import { TaskSet } from "./task-set.ts";

/** A revision that never had the traffic is not given long to say goodbye. */
const rejectedGraceMs = 5000;

/** The task sets of one service, by revision; those that are leaving are only known until they are gone. */
export class TaskSets {
  readonly #cluster: Cluster;
  readonly #journal: Journal;
  readonly #sets = new Map<string, TaskSet>();
  readonly #leaving = new Set<Promise<void>>();
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

  /** The task set of a revision, made when there is none yet; throws RollBack when there is nothing to make it of. */
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

  /** Lets go of a task set, its requests finished or, when it was rejected, at once; resolves when it is gone. */
  leave(arn: string | undefined, how: "drain" | "reject"): Promise<void> {
    const set = this.find(arn);
    if (!set || arn === undefined) return Promise.resolve();
    this.#sets.delete(arn);
    const reason = `Scaling activity initiated by (deployment ${set.revision.startedBy})`;
    const left = how === "drain" ? set.drain(reason) : set.stop(reason, rejectedGraceMs);
    this.#leaving.add(left);
    return left.finally(() => this.#leaving.delete(left));
  }

  /** Lets go of all of them; resolves when the last is gone. */
  async leaveAll(): Promise<void> {
    for (const arn of [...this.#sets.keys()]) void this.leave(arn, "drain");
    await Promise.all(this.#leaving);
  }

  /** Ends every task, those that are leaving too, with at most `graceMs` between SIGTERM and SIGKILL. */
  async stopAll(graceMs: number): Promise<void> {
    const reason = "The local service is stopping.";
    const sets = [...this.#sets.values()].map((set) => set.stop(reason, graceMs));
    const tasks = this.tasks.map((task) => task.stop("ServiceSchedulerInitiated", reason, graceMs));
    await Promise.all([...sets, ...tasks]);
  }
}
