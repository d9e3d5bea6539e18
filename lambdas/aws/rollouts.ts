import {
  DescribeServiceDeploymentsCommand,
  DescribeServiceRevisionsCommand,
  ECSClient,
  ListServiceDeploymentsCommand,
  type ServiceDeploymentBrief,
} from "@aws-sdk/client-ecs";
import { hookTimeoutMinutes, serviceName } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

/** A service deployment as ECS lists it. */
export interface ListedDeployment {
  arn: string;
  status: string;
  /** The task definition of its target revision; `undefined` while ECS does not describe the revision. */
  taskDefinition: string | undefined;
}

export interface DeploymentState {
  arn: string;
  status: string;
  reason: string | undefined;
  stage: string | undefined;
  /** How many tasks of the new version run now. */
  running: number;
  /** The PAUSE hook that waits for an answer, and the time at which it opened. */
  hook: { id: string; openedAt: Date | undefined } | undefined;
}

export interface Rollouts {
  /** The deployments of the project's service that were created after this time, newest first; ECS lists new ones late. */
  since(projectId: string, after: Date): Promise<ListedDeployment[]>;
  /** The deployments of the project's service that have not ended, including draining ones. */
  unfinished(projectId: string): Promise<ListedDeployment[]>;
  /** One deployment; `undefined` while ECS does not describe it. */
  deployment(arn: string): Promise<DeploymentState | undefined>;
}

const unfinishedStatuses = [
  "PENDING",
  "IN_PROGRESS",
  "STOP_REQUESTED",
  "ROLLBACK_REQUESTED",
  "ROLLBACK_IN_PROGRESS",
] as const;

/** Whether a deployment has not ended yet. */
export function isUnfinished({ status }: { status: string }): boolean {
  return unfinishedStatuses.some((one) => one === status);
}

/** A hook's time-out counts from the moment it opened. */
function openedAt(expiresAt: Date | undefined): Date | undefined {
  return expiresAt && new Date(expiresAt.getTime() - hookTimeoutMinutes * 60_000);
}

export function rolloutReader({ CLUSTER_NAME: cluster }: { CLUSTER_NAME: string }): Rollouts {
  const ecs = new ECSClient(clientDefaults());
  /** Revisions never change, so each is described once. */
  const taskDefinitions = new Map<string, string>();

  async function describeRevisions(arns: readonly string[]): Promise<void> {
    const unknown = [...new Set(arns)].filter((arn) => !taskDefinitions.has(arn)).slice(0, 20);
    if (unknown.length === 0) return;
    const output = await ecs.send(new DescribeServiceRevisionsCommand({ serviceRevisionArns: unknown }));
    for (const { serviceRevisionArn, taskDefinition } of output.serviceRevisions ?? []) {
      if (serviceRevisionArn && taskDefinition) taskDefinitions.set(serviceRevisionArn, taskDefinition);
    }
  }

  async function list(
    projectId: string,
    filter: { createdAt?: { after: Date }; status?: [...typeof unfinishedStatuses] },
  ): Promise<ListedDeployment[]> {
    const found: ServiceDeploymentBrief[] = [];
    let nextToken: string | undefined;
    try {
      do {
        const service = serviceName(projectId);
        const output = await ecs.send(new ListServiceDeploymentsCommand({ cluster, service, ...filter, nextToken }));
        found.push(...(output.serviceDeployments ?? []));
        nextToken = output.nextToken;
      } while (nextToken !== undefined);
    } catch (error) {
      if (isNamed(error, "ServiceNotFoundException", "ServiceNotActiveException")) return [];
      throw error;
    }
    // The order of the list is not documented.
    found.sort((one, other) => (other.createdAt?.getTime() ?? 0) - (one.createdAt?.getTime() ?? 0));
    await describeRevisions(found.flatMap(({ targetServiceRevisionArn: arn }) => (arn === undefined ? [] : [arn])));
    return found.flatMap(({ serviceDeploymentArn: arn, status = "PENDING", targetServiceRevisionArn: target }) =>
      arn === undefined ? [] : [{ arn, status, taskDefinition: taskDefinitions.get(target ?? "") }],
    );
  }

  return {
    since: (projectId, after) => list(projectId, { createdAt: { after } }),
    unfinished: (projectId) => list(projectId, { status: [...unfinishedStatuses] }),
    async deployment(arn) {
      const output = await ecs.send(new DescribeServiceDeploymentsCommand({ serviceDeploymentArns: [arn] }));
      const found = output.serviceDeployments?.[0];
      if (!found) return undefined;
      const hook = found.lifecycleHookDetails?.find(({ status }) => status === "AWAITING_ACTION");
      return {
        arn,
        status: found.status ?? "PENDING",
        reason: found.statusReason,
        stage: found.lifecycleStage,
        running: found.targetServiceRevision?.runningTaskCount ?? 0,
        hook: hook?.hookId === undefined ? undefined : { id: hook.hookId, openedAt: openedAt(hook.expiresAt) },
      };
    },
  };
}
