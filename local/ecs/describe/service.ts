import type { Arns } from "../arns.ts";
import { isRunning, type RevisionRecord } from "../records.ts";
import type { ServiceController } from "../service-controller.ts";
import { seconds } from "./seconds.ts";

/** The running, pending and wanted number of a revision's tasks. */
export function countsOf(service: ServiceController, revision: RevisionRecord, desired: number) {
  const wanted = desired === 0 ? 0 : (revision.count ?? desired);
  const tasks = service.tasks.filter(({ record }) => record.startedBy === revision.startedBy);
  const running = tasks.filter(({ record }) => record.lastStatus === "RUNNING").length;
  const pending = tasks.filter(({ record }) => record.lastStatus === "PROVISIONING").length;
  return { wanted, running, pending: Math.max(pending, wanted - running, 0) };
}

/** The revisions of a service that have tasks: first the target of a running deployment, then the live one. */
function current(service: ServiceController) {
  const deployment = service.record.deployments.find(isRunning);
  const target = service.revision(deployment?.target);
  // After the traffic shift the target is live, so `other` is the source, which is kept for a rollback.
  const liveArn = service.record.live === deployment?.target ? deployment?.source : service.record.live;
  return { deployment, target, other: service.revision(liveArn) };
}

type Rollout = "IN_PROGRESS" | "COMPLETED" | "FAILED";

function describeRollout(
  service: ServiceController,
  revision: RevisionRecord,
  status: "PRIMARY" | "ACTIVE",
  rollout: Rollout,
) {
  const latest = service.record.deployments.find(({ target }) => target === revision.arn);
  const wanted = rollout === "FAILED" ? 0 : service.record.desiredCount;
  const counts = countsOf(service, revision, wanted);
  return {
    id: revision.startedBy,
    status,
    taskDefinition: revision.taskDefinition,
    desiredCount: counts.wanted,
    runningCount: counts.running,
    pendingCount: counts.pending,
    failedTasks: latest?.failedTasks ?? 0,
    createdAt: seconds(revision.createdAt),
    updatedAt: seconds(latest?.updatedAt ?? revision.createdAt),
    rolloutState: rollout,
    rolloutStateReason: latest?.statusReason,
  };
}

/** PRIMARY is the newest revision; ACTIVE is the revision that it replaces. */
function describeRollouts(service: ServiceController) {
  const { target, other } = current(service);
  const newest = service.revision(service.record.deployments[0]?.target);
  if (target)
    return [
      describeRollout(service, target, "PRIMARY", "IN_PROGRESS"),
      ...(other ? [describeRollout(service, other, "ACTIVE", "COMPLETED")] : []),
    ];
  if (other) return [describeRollout(service, other, "PRIMARY", "COMPLETED")];
  return newest ? [describeRollout(service, newest, "PRIMARY", "FAILED")] : [];
}

/** A service as ECS describes it. */
export function describeService(arns: Arns, service: ServiceController) {
  const { record } = service;
  const { deployment, target, other } = current(service);
  const deployments = describeRollouts(service);
  const running = service.tasks.filter(({ record: task }) => task.lastStatus === "RUNNING").length;
  const revisions = [target, other].filter((revision) => revision !== undefined);
  const latest = deployment ?? record.deployments[0];
  return {
    ...record.described,
    serviceArn: arns.service(record.name),
    serviceName: record.name,
    clusterArn: arns.cluster,
    status: record.status,
    desiredCount: service.desiredCount,
    runningCount: running,
    pendingCount: deployments.reduce((sum, { pendingCount }) => sum + pendingCount, 0),
    taskDefinition: deployments[0]?.taskDefinition,
    deploymentConfiguration: record.configuration,
    deploymentController: { type: "ECS" },
    schedulingStrategy: "REPLICA",
    deployments,
    events: record.events.map((event) => ({ ...event, createdAt: seconds(event.createdAt) })),
    createdAt: seconds(record.createdAt),
    currentServiceDeployment: latest?.arn,
    currentServiceRevisions: revisions.map((revision) => {
      const counts = countsOf(service, revision, service.desiredCount);
      return {
        arn: revision.arn,
        requestedTaskCount: counts.wanted,
        runningTaskCount: counts.running,
        pendingTaskCount: counts.pending,
      };
    }),
    gatewayConnectors: record.gatewayConnectors,
  };
}
