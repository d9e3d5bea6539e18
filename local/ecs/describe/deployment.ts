import type { Arns } from "../arns.ts";
import { type DeploymentRecord, isRunning, type RevisionRecord, type TaskDefinitionRecord } from "../records.ts";
import type { ServiceController } from "../service-controller.ts";
import { seconds } from "./seconds.ts";
import { countsOf } from "./service.ts";

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

/** A service deployment as DescribeServiceDeployments returns it. */
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

/** A service deployment as ListServiceDeployments returns it. */
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
  const own = revision.targetGroup ?? 0;
  return {
    gatewayArn: arns.gateway,
    gatewayRouteArn: arns.route(service.record.name, portName),
    portName,
    serviceUrl: serviceUrl(service),
    accessType: "PUBLIC",
    status: "ACTIVE",
    resources: {
      hostSharedAlb: [
        {
          loadBalancerArn: arns.loadBalancer,
          targetGroupArn: arns.targetGroup(service.record.name, own),
          alternateTargetGroupArn: arns.targetGroup(service.record.name, own === 0 ? 1 : 0),
        },
      ],
    },
  };
}

/** The public address of a service. */
export function serviceUrl(service: ServiceController): string {
  return `http://127.0.0.1:${service.record.port}`;
}
