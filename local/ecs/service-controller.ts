import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { newDeploymentId } from "./arns.ts";
import type { EcsBehavior } from "./behavior.ts";
import type { Cluster } from "./cluster.ts";
import { runStages } from "./deployment.ts";
import type { Route } from "./gateway.ts";
import { type HookRun, RollBack } from "./hooks.ts";
import { Journal } from "./journal.ts";
import { putAnswer } from "./measurements.ts";
import { type Move, PublicAddress } from "./public-address.ts";
import { type DeploymentRecord, isRunning, isShifted, type RevisionRecord, type ServiceRecord } from "./records.ts";
import type { Task } from "./task.ts";
import type { TaskSet } from "./task-set.ts";
import { TaskSets } from "./task-sets.ts";

interface RunningDeployment {
  record: DeploymentRecord;
  abort: AbortController;
}

const deploymentsKept = 20;
const actWaitMs = 50;
/** A rollback is reported when the rejected tasks have ended, or after this time. */
const rejectedAwaitedMs = 2000;

/** One service: its public address, its task sets and at most one running deployment. */
export class ServiceController {
  readonly record: ServiceRecord;
  readonly route: Route = {};
  readonly #cluster: Cluster;
  readonly #journal: Journal;
  readonly #sets: TaskSets;
  readonly #address: PublicAddress;
  readonly #actions = new EventEmitter().setMaxListeners(0);
  #running: RunningDeployment | undefined;
  /** Resolves when the tasks of a rejected revision have ended; the next deployment waits for it. */
  #rejected: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, record: ServiceRecord) {
    this.#cluster = cluster;
    this.record = record;
    this.#journal = new Journal(cluster, record);
    this.#sets = new TaskSets(cluster, this.#journal);
    const scope = { arns: cluster.arns, metrics: cluster.metrics, service: record.name };
    this.#address = new PublicAddress(this.#journal, cluster.addresses, {
      route: this.route,
      testHeader: cluster.testHeader,
      onAnswer: (answer) => putAnswer(scope, answer),
    });
  }

  get behavior(): EcsBehavior {
    return this.#cluster.behavior;
  }
  /** Tasks that have not stopped yet. */
  get tasks(): Task[] {
    return this.#sets.tasks;
  }
  /** The number of tasks that should run now: 0 while no revision is live or being deployed. */
  get desiredCount(): number {
    return this.record.live || this.#running ? this.record.desiredCount : 0;
  }
  revision(arn: string | undefined): RevisionRecord | undefined {
    return this.record.revisions.find((revision) => revision.arn === arn);
  }
  save(): Promise<void> {
    return this.#journal.save();
  }
  /** Binds the public address; if its port is in use, changes to another port and returns the change. */
  open(): Promise<Move | undefined> {
    return this.#address.open();
  }
  taskSet(arn: string): TaskSet {
    return this.#sets.ensure(arn);
  }

  /** Starts a deployment of a revision; a running deployment is rolled back first. */
  deploy(revision: RevisionRecord): void {
    this.rollBack("Service deployment stopped because a newer service deployment was started.", "STOPPED");
    const { record } = this;
    const now = this.#journal.now();
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
    record.deployments = [deployment, ...record.deployments].slice(0, deploymentsKept);
    const named = new Set([record.live, ...record.deployments.flatMap(({ target, source }) => [target, source])]);
    record.revisions = record.revisions.filter(({ arn }) => named.has(arn));
    if (record.desiredCount > 0) void this.#run(deployment);
    else this.#deployNothing(deployment);
  }

  /** With a desired count of 0, the revision becomes live at once, without a task. */
  #deployNothing(deployment: DeploymentRecord): void {
    this.route.production = undefined;
    void this.#sets.end(this.record.live, "drain");
    this.record.live = deployment.target;
    this.#finish(deployment, "SUCCESSFUL", "CLEAN_UP");
  }

  async #run(deployment: DeploymentRecord): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#running = { record: deployment, abort };
    const run: HookRun = {
      deployment,
      signal,
      now: () => this.#journal.now(),
      onChange: () => {
        this.#journal.saveSoon();
        this.#actions.emit("changed");
      },
      acted: async (timeoutMs) => {
        const over = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        await once(this.#actions, "acted", { signal: over }).catch(() => {});
      },
    };
    try {
      await this.#rejected;
      signal.throwIfAborted();
      await runStages(run, this);
      this.#running = undefined;
      this.#finish(deployment, "SUCCESSFUL", "CLEAN_UP");
      this.#journal.event(`(deployment ${this.revision(deployment.target)?.startedBy}) deployment completed.`);
      this.#journal.event("has reached a steady state.");
    } catch (error) {
      if (signal.aborted) return;
      this.rollBack(error instanceof RollBack ? error.message : `Service deployment failed: ${String(error)}`);
    }
  }

  #finish(deployment: DeploymentRecord, status: DeploymentRecord["status"], stage = deployment.lifecycleStage): void {
    deployment.status = status;
    deployment.lifecycleStage = stage;
    deployment.finishedAt = this.#journal.now();
    deployment.updatedAt = deployment.finishedAt;
    if (status !== "SUCCESSFUL") deployment.stoppedAt = deployment.finishedAt;
    this.#journal.saveSoon();
  }

  /** Shifts the production traffic to the target revision in one step. */
  shift(deployment: DeploymentRecord, green: TaskSet): void {
    this.route.production = green;
    this.route.test = undefined;
    this.record.live = deployment.target;
    deployment.lifecycleStage = "PRODUCTION_TRAFFIC_SHIFT";
    deployment.updatedAt = this.#journal.now();
    this.#journal.saveSoon();
  }

  /** Drains the tasks of the previous revision in the background. */
  cleanUp(deployment: DeploymentRecord): void {
    void this.#sets.end(deployment.source, "drain");
  }

  /** Lets the deployment read its hooks again, and waits briefly so that the caller's next call sees the traffic shifted. */
  async act(deployment: DeploymentRecord): Promise<void> {
    const over = AbortSignal.timeout(actWaitMs);
    this.#actions.emit("acted");
    while (isRunning(deployment) && !isShifted(deployment) && !over.aborted)
      await once(this.#actions, "changed", { signal: over }).catch(() => {});
  }

  /** Ends the running deployment, if any, and restores the previous revision; its traffic is back on return. */
  rollBack(reason: string, end: "ROLLBACK_SUCCESSFUL" | "STOPPED" = "ROLLBACK_SUCCESSFUL"): void {
    const running = this.#running;
    if (!running) return;
    const { record: deployment, abort } = running;
    const { source, target } = deployment;
    const hadTraffic = isShifted(deployment);
    this.#running = undefined;
    abort.abort();
    this.route.test = undefined;
    this.route.production = this.#sets.find(source);
    if (source === undefined) delete this.record.live;
    else this.record.live = source;
    // The service is described by the revision that serves again.
    this.record.gatewayConnectors = this.revision(source)?.gatewayConnectors ?? this.record.gatewayConnectors;
    const now = this.#journal.now();
    deployment.status = end === "STOPPED" ? "STOP_REQUESTED" : "ROLLBACK_IN_PROGRESS";
    deployment.statusReason = reason;
    deployment.rollback = { reason, startedAt: now, ...(source ? { serviceRevisionArn: source } : {}) };
    deployment.updatedAt = now;
    this.#journal.event(`(deployment ${this.revision(target)?.startedBy}) deployment failed: ${reason}`);
    const left = this.#sets.end(target, hadTraffic ? "drain" : "reject");
    if (!hadTraffic) this.#rejected = left;
    const awaited = delay(rejectedAwaitedMs, undefined, { ref: false });
    void Promise.race([left, awaited]).then(() => this.#finish(deployment, end));
  }

  /** Starts or ends the tasks of the live revision; a count of 0 also rolls back a running deployment. */
  scale(desiredCount: number): void {
    const { record } = this;
    record.desiredCount = desiredCount;
    if (desiredCount === 0) {
      this.rollBack("The service was scaled to 0.");
      this.route.production = undefined;
      void this.#sets.end(record.live, "drain");
    } else if (record.live && !this.#running) {
      const revision = this.revision(record.live);
      if (revision) revision.count = desiredCount;
      this.route.production = this.taskSet(record.live);
      this.route.production.start();
    }
    this.#journal.saveSoon();
  }

  /** Continues after a restart: starts the live tasks, binds the public address and resumes a running deployment. */
  async resume(): Promise<void> {
    const { record } = this;
    if (record.status === "DRAINING") record.status = "INACTIVE";
    if (record.status === "INACTIVE") return;
    for (const deployment of record.deployments) {
      if (deployment.status === "ROLLBACK_IN_PROGRESS") this.#finish(deployment, "ROLLBACK_SUCCESSFUL");
      if (deployment.status === "STOP_REQUESTED") this.#finish(deployment, "STOPPED");
    }
    try {
      if (record.desiredCount > 0) this.#resumeTasks(record.deployments.find(isRunning));
    } catch (error) {
      this.#journal.event(`was unable to start its tasks: ${String(error)}`);
    }
    await this.#address.reopen();
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

  /** Deletes the service: closes its address and drains its tasks. */
  async delete(): Promise<void> {
    const { record } = this;
    record.status = "DRAINING";
    this.rollBack("The service was deleted.");
    this.route.production = undefined;
    delete record.live;
    await Promise.all([this.#address.close("finish"), this.#sets.endAll(), this.behavior.deleted()]);
    record.status = "INACTIVE";
    await this.#journal.close();
  }

  /** Stops everything within `graceMs`; the record is kept, so that `resume` can continue from it. */
  async close(graceMs: number): Promise<void> {
    this.#running?.abort.abort();
    this.#running = undefined;
    const closed = this.#address.close("cut");
    await this.#sets.stopAll(graceMs);
    await closed;
    await this.#journal.close();
  }
}
