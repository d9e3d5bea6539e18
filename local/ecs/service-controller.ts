import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Arns, newDeploymentId } from "./arns.ts";
import { runStages } from "./deployment.ts";
import { addEvent, keepStopped, repeatEvent } from "./events.ts";
import { type Gateway, openGateway, type Route, type TestHeader } from "./gateway.ts";
import { RollBack } from "./hooks.ts";
import { type DeploymentRecord, isRunning, isShifted, type RevisionRecord, type ServiceRecord } from "./records.ts";
import type { Store } from "./store.ts";
import { containerPortOf, type Task, type TaskHost } from "./task.ts";
import { TaskSet } from "./task-set.ts";

/** What all services of a cluster share. */
export interface Cluster {
  arns: Arns;
  store: Store;
  host: TaskHost;
  testHeader: TestHeader;
}

interface RunningDeployment {
  record: DeploymentRecord;
  abort: AbortController;
}

const deploymentsKept = 20;
/** A revision that never had the traffic is not given long to say goodbye. */
const rejectedGraceMs = 5000;
const rejectedAwaitedMs = 2000;
const portRetryMs = 1000;

/** One service: its public address, the task sets behind it, and the one deployment that may be changing them. */
export class ServiceController {
  readonly record: ServiceRecord;
  readonly route: Route = {};
  readonly #cluster: Cluster;
  readonly #sets = new Map<string, TaskSet>();
  readonly #leaving = new Set<Promise<void>>();
  readonly #tasks = new Set<Task>();
  readonly #actions = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  #gateway: Gateway | undefined;
  #closed = false;
  #running: RunningDeployment | undefined;
  /** Resolves when no task of a rejected revision is left, so that there are never two greens. */
  #rejected: Promise<unknown> = Promise.resolve();

  constructor(cluster: Cluster, record: ServiceRecord) {
    this.#cluster = cluster;
    this.record = record;
  }

  now(): number {
    return this.#cluster.host.now();
  }
  /** Tasks that have not stopped yet. */
  get tasks(): Task[] {
    return [...this.#tasks];
  }
  /** The tasks that run now: none while nothing is live or being deployed. */
  get desiredCount(): number {
    return this.record.live || this.#running ? this.record.desiredCount : 0;
  }
  save(): Promise<void> {
    return this.#cluster.store.saveService(this.record);
  }
  /** Saves without anybody waiting; what cannot be written now is written with the next change. */
  saveSoon(): void {
    if (!this.#closed) this.save().catch(() => {});
  }
  event(message: string): void {
    addEvent(this.record, this.now(), message);
    this.saveSoon();
  }

  /** Binds the public address; the first time `port` may be 0. Rejects when the port is taken. */
  async open(): Promise<void> {
    this.#gateway = await openGateway(this.record.port, this.route, this.#cluster.testHeader);
    this.record.port = this.#gateway.port;
  }

  async #openWhenFree(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        return await this.open();
      } catch {
        if (repeatEvent(this.record, this.now(), 0, `port ${this.record.port} of this machine is in use.`))
          this.saveSoon();
        await delay(portRetryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  revision(arn: string | undefined): RevisionRecord | undefined {
    return this.record.revisions.find((revision) => revision.arn === arn);
  }

  /** The task set of a revision, made when there is none yet. */
  taskSet(arn: string): TaskSet {
    const known = this.#sets.get(arn);
    if (known) return known;
    const revision = this.revision(arn);
    const definition = revision && this.#cluster.store.taskDefinitions.get(revision.taskDefinition);
    if (!definition) throw new RollBack("The task definition of the service revision does not exist.");
    const containerPort = containerPortOf(definition);
    const set: TaskSet = new TaskSet(this.#cluster.host, definition, revision, {
      onStarted: (task) => {
        this.#tasks.add(task);
        this.event(`has started 1 tasks: (task ${task.record.id}).`);
      },
      onStopped: (task) => this.#taskStopped(task),
      onHealthy: () => this.saveSoon(),
      onUnhealthy: (reason) => {
        const group = `(target-group ${this.#cluster.arns.route(this.record.name, revision.gatewayConnectors[0].portName)})`;
        const message = `(port ${containerPort}) is unhealthy in ${group} due to (reason ${reason})`;
        if (repeatEvent(this.record, this.now(), revision.createdAt, message)) this.saveSoon();
      },
    });
    this.#sets.set(arn, set);
    return set;
  }

  #taskStopped(task: Task): void {
    this.#tasks.delete(task);
    keepStopped(this.record, this.now(), task.record);
    const { stopCode, stoppedReason, id, startedBy } = task.record;
    const running = this.#running?.record;
    if (running && stopCode !== "ServiceSchedulerInitiated" && this.revision(running.target)?.startedBy === startedBy)
      running.failedTasks++;
    if (stopCode === "TaskFailedToStart") this.event(`(task ${id}) failed to start: ${stoppedReason}.`);
    else this.event(`has stopped 1 running tasks: (task ${id}).`);
  }

  /** Lets go of a task set: with its requests finished, or at once when it was rejected. */
  #leave(arn: string, how: "drain" | "reject"): Promise<void> {
    const set = this.#sets.get(arn);
    if (!set) return Promise.resolve();
    this.#sets.delete(arn);
    const reason = `Scaling activity initiated by (deployment ${set.revision.startedBy})`;
    const left = how === "drain" ? set.drain(reason) : set.stop(reason, rejectedGraceMs);
    this.#leaving.add(left);
    return left.finally(() => this.#leaving.delete(left));
  }

  /** Starts a deployment of a revision; one that is under way is stopped and rolled back first. */
  deploy(revision: RevisionRecord): DeploymentRecord {
    this.supersede();
    const { record } = this;
    const now = this.now();
    const deployment: DeploymentRecord = {
      arn: this.#cluster.arns.deployment(record.name, newDeploymentId()),
      status: "IN_PROGRESS",
      lifecycleStage: "PRE_SCALE_UP",
      hooks: [],
      target: revision.arn,
      ...(record.live ? { source: record.live } : {}),
      configuration: record.configuration,
      failedTasks: 0,
      createdAt: now,
      updatedAt: now,
    };
    record.revisions.push(revision);
    record.deployments.unshift(deployment);
    this.#forgetOld();
    if (record.desiredCount === 0) {
      record.live = revision.arn;
      this.#finish(deployment, "SUCCESSFUL", "CLEAN_UP");
    } else void this.#run(deployment);
    return deployment;
  }

  #forgetOld(): void {
    const { record } = this;
    record.deployments.length = Math.min(record.deployments.length, deploymentsKept);
    const named = new Set([record.live, ...record.deployments.flatMap(({ target, source }) => [target, source])]);
    record.revisions = record.revisions.filter(({ arn }) => named.has(arn));
  }

  async #run(deployment: DeploymentRecord): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#running = { record: deployment, abort };
    try {
      await this.#rejected;
      signal.throwIfAborted();
      await runStages(
        {
          deployment,
          signal,
          now: () => this.now(),
          onChange: () => this.saveSoon(),
          acted: (timeoutMs) =>
            once(this.#actions, "acted", { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) }).then(
              () => {},
              () => {},
            ),
        },
        this,
      );
      this.#running = undefined;
      this.#finish(deployment, "SUCCESSFUL", "CLEAN_UP");
      this.event(`(deployment ${this.revision(deployment.target)?.startedBy}) deployment completed.`);
      this.event("has reached a steady state.");
    } catch (error) {
      if (signal.aborted) return;
      this.rollBack(error instanceof RollBack ? error.message : `Service deployment failed: ${String(error)}`);
    }
  }

  #finish(deployment: DeploymentRecord, status: DeploymentRecord["status"], stage = deployment.lifecycleStage): void {
    deployment.status = status;
    deployment.lifecycleStage = stage;
    deployment.finishedAt = this.now();
    deployment.updatedAt = deployment.finishedAt;
    if (status !== "SUCCESSFUL") deployment.stoppedAt = deployment.finishedAt;
    this.saveSoon();
  }

  /** The production traffic goes to the target from here on: one step, nothing in between. */
  shift(deployment: DeploymentRecord, green: TaskSet): void {
    this.route.production = green;
    this.route.test = undefined;
    this.record.live = deployment.target;
    deployment.lifecycleStage = "PRODUCTION_TRAFFIC_SHIFT";
    deployment.updatedAt = this.now();
    this.saveSoon();
  }

  /** Ends the revision that had the traffic before; nobody waits for it. */
  cleanUp(deployment: DeploymentRecord): void {
    if (deployment.source) void this.#leave(deployment.source, "drain");
  }

  act(): void {
    this.#actions.emit("acted");
  }

  /** Puts the previous revision back; the routes have changed when this returns. */
  rollBack(reason: string, end: "ROLLBACK_SUCCESSFUL" | "STOPPED" = "ROLLBACK_SUCCESSFUL"): void {
    const running = this.#running;
    if (!running) return;
    const { record: deployment, abort } = running;
    this.#running = undefined;
    abort.abort();
    const now = this.now();
    const { source, target } = deployment;
    const hadTraffic = isShifted(deployment);
    this.route.test = undefined;
    this.route.production = source === undefined ? undefined : this.#sets.get(source);
    if (source === undefined) delete this.record.live;
    else this.record.live = source;
    deployment.status = end === "STOPPED" ? "STOP_REQUESTED" : "ROLLBACK_IN_PROGRESS";
    deployment.statusReason = reason;
    deployment.rollback = { reason, startedAt: now, ...(source ? { serviceRevisionArn: source } : {}) };
    deployment.updatedAt = now;
    this.event(`(deployment ${this.revision(target)?.startedBy}) deployment failed: ${reason}`);
    const left = this.#leave(target, hadTraffic ? "drain" : "reject");
    if (!hadTraffic) this.#rejected = left;
    void Promise.race([left, delay(rejectedAwaitedMs, undefined, { ref: false })]).then(() =>
      this.#finish(deployment, end),
    );
  }

  /** Ends the deployment that is under way because another one follows. */
  supersede(): void {
    this.rollBack("Service deployment stopped because a newer service deployment was started.", "STOPPED");
  }

  /** Starts or ends the tasks of the live revision; a deployment under way ends with a count of 0. */
  scale(desiredCount: number): void {
    const { record } = this;
    record.desiredCount = desiredCount;
    if (desiredCount === 0) {
      this.rollBack("The service was scaled to 0.");
      this.route.production = undefined;
      if (record.live) void this.#leave(record.live, "drain");
    } else if (record.live && !this.#running) {
      this.route.production = this.taskSet(record.live);
      this.route.production.start();
    }
    this.saveSoon();
  }

  /** Takes up what a previous process left: live tasks, the public address, a deployment that was under way. */
  async resume(): Promise<void> {
    const { record } = this;
    if (record.status === "DRAINING") record.status = "INACTIVE";
    if (record.status === "INACTIVE") return this.saveSoon();
    for (const deployment of record.deployments) {
      if (deployment.status === "ROLLBACK_IN_PROGRESS") this.#finish(deployment, "ROLLBACK_SUCCESSFUL");
      if (deployment.status === "STOP_REQUESTED") this.#finish(deployment, "STOPPED");
    }
    if (record.desiredCount > 0) this.#resumeTasks(record.deployments.find(isRunning));
    const opened = this.#openWhenFree();
    await Promise.race([opened, delay(portRetryMs / 2, undefined, { ref: false })]);
  }

  #resumeTasks(deployment: DeploymentRecord | undefined): void {
    const { live } = this.record;
    if (live) {
      this.route.production = this.taskSet(live);
      this.route.production.start();
    }
    if (!deployment) return;
    if (isShifted(deployment)) {
      if (deployment.source) this.taskSet(deployment.source).start();
    } else if (!deployment.hooks.some(({ status }) => status === "AWAITING_ACTION"))
      deployment.lifecycleStage = "PRE_SCALE_UP";
    void this.#run(deployment);
  }

  /** Ends the service: its address is closed and its tasks are drained and stopped. */
  async delete(): Promise<void> {
    const { record } = this;
    record.status = "DRAINING";
    this.rollBack("The service was deleted.");
    this.route.production = undefined;
    const closed = this.#closeGateway(false);
    const left = [...this.#sets.keys()].map((arn) => this.#leave(arn, "drain"));
    delete record.live;
    await Promise.all([closed, ...left, ...this.#leaving]);
    record.status = "INACTIVE";
    await this.save();
  }

  async #closeGateway(now: boolean): Promise<void> {
    this.#closing.abort();
    const gateway = this.#gateway;
    this.#gateway = undefined;
    await gateway?.close(now);
  }

  /** Stops everything within `graceMs`, leaving the record as it is, so that `resume` takes it up again. */
  async close(graceMs: number): Promise<void> {
    this.#running?.abort.abort();
    this.#running = undefined;
    const closed = this.#closeGateway(true);
    const stopped = [...this.#sets.values()].map((set) => set.stop("The local service is stopping.", graceMs));
    const others = this.tasks.map((task) =>
      task.stop("ServiceSchedulerInitiated", "The local service is stopping.", graceMs),
    );
    await Promise.all([...stopped, ...others]);
    await Promise.race([closed, delay(500, undefined, { ref: false })]);
    await this.save();
    this.#closed = true;
  }
}
