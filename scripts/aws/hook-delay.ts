import {
  DescribeServiceDeploymentsCommand,
  DescribeTasksCommand,
  type ECSClient,
  ListServiceDeploymentsCommand,
  ListTasksCommand,
} from "@aws-sdk/client-ecs";
import { familyOf, hookTimeoutMinutes, serviceName } from "../../lambdas/aws/app-names.ts";

/** Where the apps of a service run. */
export interface AppCluster {
  ecs: ECSClient;
  cluster: string;
}

/** When the hook of the project's newest deployment opened: its time-out counts from then. */
async function hookOpenedAt({ ecs, cluster }: AppCluster, projectId: string): Promise<number | undefined> {
  const service = serviceName(projectId);
  const { serviceDeployments = [] } = await ecs.send(new ListServiceDeploymentsCommand({ cluster, service }));
  const newest = serviceDeployments
    .toSorted((one, other) => (other.createdAt?.getTime() ?? 0) - (one.createdAt?.getTime() ?? 0))
    .flatMap(({ serviceDeploymentArn: arn }) => arn ?? [])[0];
  if (newest === undefined) return undefined;
  const output = await ecs.send(new DescribeServiceDeploymentsCommand({ serviceDeploymentArns: [newest] }));
  const expiresAt = output.serviceDeployments?.[0]?.lifecycleHookDetails?.[0]?.expiresAt;
  return expiresAt && expiresAt.getTime() - hookTimeoutMinutes * 60_000;
}

/** The seconds from a build's task being RUNNING to the open hook of its deployment; `undefined` if ECS does not report it. */
export async function hookDelaySeconds(
  apps: AppCluster,
  { projectId, buildId }: { projectId: string; buildId: string },
): Promise<number | undefined> {
  const { ecs, cluster } = apps;
  const { taskArns = [] } = await ecs.send(new ListTasksCommand({ cluster, family: familyOf(buildId) }));
  if (taskArns.length === 0) return undefined;
  const { tasks = [] } = await ecs.send(new DescribeTasksCommand({ cluster, tasks: taskArns }));
  const started = tasks.flatMap(({ startedAt }) => startedAt?.getTime() ?? []);
  const opened = await hookOpenedAt(apps, projectId);
  return opened === undefined || started.length === 0 ? undefined : (opened - Math.min(...started)) / 1000;
}
