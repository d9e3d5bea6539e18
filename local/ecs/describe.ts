import type { Arns } from "./arns.ts";
import {
  type DeploymentRecord,
  isRunning,
  type RevisionRecord,
  type TaskDefinitionRecord,
  type TaskRecord,
} from "./records.ts";
import type { ServiceController } from "./service-controller.ts";

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** A task definition as ECS describes it. */
export function describeTaskDefinition({ registeredAt, deregisteredAt, ...definition }: TaskDefinitionRecord) {
  return { ...definition, registeredAt: seconds(registeredAt), deregisteredAt: seconds(deregisteredAt) };
}

function countsOf(service: ServiceController, revision: RevisionRecord, wanted: number) {
  const tasks = service.tasks.filter(({ record }) => record.startedBy === revision.startedBy);
  const running = tasks.filter(({ record }) => record.lastStatus === "RUNNING").length;
  const pending = tasks.filter(({ record }) => record.lastStatus === "PROVISIONING").length;
  return { wanted, running, pending: Math.max(pending, Math.min(1, wanted) - running, 0) };
}

/** The revisions of a service that have tasks: the one that is being deployed first, then the live one. */
function current(service: ServiceController) {
  const deployment = service.record.deployments.find(isRunning);
  const target = service.revision(deployment?.target);
  // Once the traffic has shifted, the revision that is kept for a rollback is the other one.
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

/** PRIMARY is the newest revision that is wanted, ACTIVE the one that it replaces. */
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

function describeRevisionUse(service: ServiceController, arn: string, weights: { test: number; production: number }) {
  const revision = service.revision(arn);
  const counts = revision
    ? countsOf(service, revision, service.record.desiredCount)
    : { wanted: 0, running: 0, pending: 0 };
  return {
    arn,
    requestedTaskCount: counts.wanted,
    runningTaskCount: counts.running,
    pendingTaskCount: counts.pending,
    requestedTestTrafficWeight: weights.test,
    requestedProductionTrafficWeight: weights.production,
  };
}

/** A service deployment as DescribeServiceDeployments gives it. */
export function describeDeployment(arns: Arns, service: ServiceController, deployment: DeploymentRecord) {
  const { record } = service;
  const live = record.live === deployment.target;
  const tested = live || (isRunning(deployment) && service.route.test !== undefined);
  return {
    serviceDeploymentArn: deployment.arn,
    serviceArn: arns.service(record.name),
    clusterArn: arns.cluster,
    createdAt: seconds(deployment.createdAt),
    startedAt: seconds(deployment.createdAt),
    updatedAt: seconds(deployment.updatedAt),
    finishedAt: seconds(deployment.finishedAt),
    stoppedAt: seconds(deployment.stoppedAt),
    status: deployment.status,
    statusReason: deployment.statusReason,
    lifecycleStage: deployment.lifecycleStage,
    lifecycleHookDetails: deployment.hooks.map(({ hookId, status, expiresAt, timeoutAction }) => ({
      hookId,
      targetType: "PAUSE",
      status,
      expiresAt: seconds(expiresAt),
      timeoutAction,
    })),
    targetServiceRevision: describeRevisionUse(service, deployment.target, {
      test: tested ? 100 : 0,
      production: live ? 100 : 0,
    }),
    sourceServiceRevisions: deployment.source
      ? [
          describeRevisionUse(service, deployment.source, {
            test: tested ? 0 : 100,
            production: record.live === deployment.source ? 100 : 0,
          }),
        ]
      : [],
    deploymentConfiguration: deployment.configuration,
    rollback: deployment.rollback && { ...deployment.rollback, startedAt: seconds(deployment.rollback.startedAt) },
  };
}

/** A service deployment as ListServiceDeployments gives it. */
export function describeDeploymentBriefly(arns: Arns, service: ServiceController, deployment: DeploymentRecord) {
  const { serviceDeploymentArn, serviceArn, clusterArn, createdAt, startedAt, finishedAt, status, statusReason } =
    describeDeployment(arns, service, deployment);
  const brief = {
    serviceDeploymentArn,
    serviceArn,
    clusterArn,
    createdAt,
    startedAt,
    finishedAt,
    status,
    statusReason,
  };
  return { ...brief, targetServiceRevisionArn: deployment.target };
}

/** A service revision as ECS describes it. */
export function describeRevision(
  arns: Arns,
  service: ServiceController,
  revision: RevisionRecord,
  definition: TaskDefinitionRecord | undefined,
) {
  return {
    serviceRevisionArn: revision.arn,
    serviceArn: arns.service(service.record.name),
    clusterArn: arns.cluster,
    taskDefinition: revision.taskDefinition,
    createdAt: seconds(revision.createdAt),
    gatewayConnectors: revision.gatewayConnectors,
    containerImages: definition?.containerDefinitions.map(({ name, image }) => ({ containerName: name, image })),
    ecsManagedResources: { gatewayConnections: [describeConnection(arns, service, revision)] },
  };
}

function describeConnection(arns: Arns, service: ServiceController, revision: RevisionRecord) {
  const [{ portName }] = revision.gatewayConnectors;
  return {
    gatewayArn: arns.gateway,
    gatewayRouteArn: arns.route(service.record.name, portName),
    portName,
    serviceUrl: serviceUrl(service),
    accessType: "PUBLIC",
    status: "ACTIVE",
  };
}

/** The public address of a service. */
export function serviceUrl(service: ServiceController): string {
  return `http://127.0.0.1:${service.record.port}`;
}

/** A task as ECS describes it. */
export function describeTask(
  arns: Arns,
  serviceName: string,
  task: TaskRecord,
  definition: TaskDefinitionRecord | undefined,
) {
  const taskArn = arns.task(task.id);
  return {
    taskArn,
    clusterArn: arns.cluster,
    taskDefinitionArn: task.taskDefinition,
    group: `service:${serviceName}`,
    startedBy: task.startedBy,
    lastStatus: task.lastStatus,
    desiredStatus: task.desiredStatus,
    healthStatus: "UNKNOWN",
    connectivity: task.lastStatus === "RUNNING" ? "CONNECTED" : "DISCONNECTED",
    launchType: "FARGATE",
    cpu: definition?.cpu,
    memory: definition?.memory,
    createdAt: seconds(task.createdAt),
    startedAt: seconds(task.startedAt),
    stoppingAt: seconds(task.stoppingAt),
    stoppedAt: seconds(task.stoppedAt),
    executionStoppedAt: seconds(task.stoppedAt),
    stopCode: task.stopCode,
    stoppedReason: task.stoppedReason,
    containers: [
      {
        containerArn: arns.container(task.id, task.containerName),
        taskArn,
        name: task.containerName,
        image: task.image,
        lastStatus: task.lastStatus,
        exitCode: task.exitCode,
        reason: task.stopCode === "TaskFailedToStart" ? task.stoppedReason : undefined,
        healthStatus: "UNKNOWN",
      },
    ],
  };
}
