import { CloudWatchClient, GetMetricDataCommand, type MetricDataQuery } from "@aws-sdk/client-cloudwatch";
import {
  DescribeServiceRevisionsCommand,
  DescribeServicesCommand,
  DescribeTasksCommand,
  ECSClient,
  ListTasksCommand,
} from "@aws-sdk/client-ecs";
import { buildOf, serviceName } from "./app-names.ts";
import { shortCallDefaults } from "./clients.ts";

/** Whole steps of equal length; `to` is exclusive. */
export interface MetricRange {
  from: Date;
  to: Date;
  stepSeconds: number;
}

/** What was measured in one step; absent where nothing was. Shares are of what one instance may use, on average. */
export interface Measured {
  requests?: number;
  errors?: number;
  latencySecondsP50?: number;
  latencySecondsP95?: number;
  memoryPercent?: number;
  cpuPercent?: number;
  restarts?: number;
}

/** A service, and the names that CloudWatch has for what serves its requests. */
export interface MeasuredApp {
  service: string;
  taskDefinition: string | undefined;
  targets: { loadBalancer: string; targetGroup: string }[];
}

/** An instance that ended by itself. */
export interface MeasuredExit {
  at: Date;
  /** The build that it ran; null for a task definition that is not ours. */
  buildId: string | null;
}

export interface AppMetrics {
  /** The project's app; `undefined` if there is none. */
  find(projectId: string): Promise<MeasuredApp | undefined>;
  /** What was measured, by the start of its step in milliseconds; without restarts. */
  measured(app: MeasuredApp, range: MetricRange): Promise<Map<number, Measured>>;
  /** The instances that ended by themselves in the last hour (ECS forgets earlier ones), those of failed deployments included. */
  exits(app: MeasuredApp): Promise<MeasuredExit[]>;
}

type Quantity = Exclude<keyof Measured, "restarts">;
const tasksMax = 100;

/** CloudWatch names a resource by the end of its ARN. */
const afterType = (arn: string, type: string) => arn.slice(arn.indexOf(type) + type.length);

function queriesOf({ service, targets }: MeasuredApp, cluster: string, stepSeconds: number) {
  const quantities = new Map<string, Quantity>();
  const queries: MetricDataQuery[] = [];
  const ask = (quantity: Quantity, Metric: { Namespace: string; MetricName: string }, Stat: string, named: object) => {
    const Id = `m${queries.length}`;
    const Dimensions = Object.entries(named).map(([Name, Value]) => ({ Name, Value }));
    queries.push({ Id, MetricStat: { Metric: { ...Metric, Dimensions }, Period: stepSeconds, Stat } });
    quantities.set(Id, quantity);
  };
  const ecs = (MetricName: string) => ({ Namespace: "AWS/ECS", MetricName });
  const elb = (MetricName: string) => ({ Namespace: "AWS/ApplicationELB", MetricName });
  ask("cpuPercent", ecs("CPUUtilization"), "Average", { ClusterName: cluster, ServiceName: service });
  ask("memoryPercent", ecs("MemoryUtilization"), "Average", { ClusterName: cluster, ServiceName: service });
  for (const { loadBalancer, targetGroup } of targets) {
    const named = { TargetGroup: targetGroup, LoadBalancer: loadBalancer };
    ask("requests", elb("RequestCount"), "Sum", named);
    ask("errors", elb("HTTPCode_Target_5XX_Count"), "Sum", named);
    // The load balancer answers these with 502 or 504; its other answers are not counted by target group.
    ask("errors", elb("TargetConnectionErrorCount"), "Sum", named);
    ask("latencySecondsP50", elb("TargetResponseTime"), "p50", named);
    ask("latencySecondsP95", elb("TargetResponseTime"), "p95", named);
  }
  return { queries, quantities };
}

/** Old and new version have a target group each: counts add up, and of two percentiles the higher one is kept. */
function combined(quantity: Quantity, one: number | undefined, other: number): number {
  if (one === undefined) return other;
  return quantity === "requests" || quantity === "errors" ? one + other : Math.max(one, other);
}

export function appMetrics({ CLUSTER_NAME: cluster }: { CLUSTER_NAME: string }): AppMetrics {
  const ecs = new ECSClient(shortCallDefaults());
  const cloudWatch = new CloudWatchClient(shortCallDefaults());

  async function targetsOf(serviceRevisionArns: string[]): Promise<MeasuredApp["targets"]> {
    if (serviceRevisionArns.length === 0) return [];
    const output = await ecs.send(new DescribeServiceRevisionsCommand({ serviceRevisionArns }));
    const balancers = (output.serviceRevisions ?? [])
      .flatMap(({ ecsManagedResources }) => ecsManagedResources?.gatewayConnections ?? [])
      .flatMap(({ resources }) => resources?.hostSharedAlb ?? []);
    const targets = new Map<string, MeasuredApp["targets"][number]>();
    for (const { loadBalancerArn, targetGroupArn, alternateTargetGroupArn } of balancers) {
      for (const arn of [targetGroupArn, alternateTargetGroupArn]) {
        if (loadBalancerArn === undefined || arn === undefined) continue;
        const loadBalancer = afterType(loadBalancerArn, ":loadbalancer/");
        targets.set(`${loadBalancer} ${arn}`, {
          loadBalancer,
          targetGroup: `targetgroup/${afterType(arn, ":targetgroup/")}`,
        });
      }
    }
    return [...targets.values()];
  }

  async function exits({ service }: MeasuredApp): Promise<MeasuredExit[]> {
    const listed = await ecs.send(new ListTasksCommand({ cluster, serviceName: service, desiredStatus: "STOPPED" }));
    const tasks = listed.taskArns?.slice(0, tasksMax) ?? [];
    if (tasks.length === 0) return [];
    const output = await ecs.send(new DescribeTasksCommand({ cluster, tasks }));
    return (output.tasks ?? [])
      .filter(({ stopCode }) => stopCode === "EssentialContainerExited" || stopCode === "TaskFailedToStart")
      .flatMap(({ stoppedAt: at, taskDefinitionArn = "" }) =>
        at ? [{ at, buildId: buildOf(taskDefinitionArn) }] : [],
      );
  }

  async function quantitiesOf(
    app: MeasuredApp,
    { from, to, stepSeconds }: MetricRange,
  ): Promise<Map<number, Measured>> {
    const { queries, quantities } = queriesOf(app, cluster, stepSeconds);
    const steps = new Map<number, Measured>();
    let NextToken: string | undefined;
    do {
      const output = await cloudWatch.send(
        new GetMetricDataCommand({ MetricDataQueries: queries, StartTime: from, EndTime: to, NextToken }),
      );
      for (const { Id = "", Timestamps = [], Values = [] } of output.MetricDataResults ?? []) {
        const quantity = quantities.get(Id);
        for (const [index, timestamp] of Timestamps.entries()) {
          const value = Values[index];
          if (quantity === undefined || value === undefined) continue;
          const at = timestamp.getTime();
          const step = steps.get(at) ?? {};
          steps.set(at, { ...step, [quantity]: combined(quantity, step[quantity], value) });
        }
      }
      NextToken = output.NextToken;
    } while (NextToken !== undefined);
    return steps;
  }

  return {
    async find(projectId) {
      const service = serviceName(projectId);
      const output = await ecs.send(new DescribeServicesCommand({ cluster, services: [service] }));
      const found = output.services?.[0];
      if (found?.status !== "ACTIVE") return undefined;
      const revisions = (found.currentServiceRevisions ?? []).flatMap(({ arn }) => arn ?? []);
      const taskDefinition =
        found.deployments?.find(({ status }) => status === "PRIMARY")?.taskDefinition ?? found.taskDefinition;
      return { service, taskDefinition, targets: await targetsOf(revisions) };
    },
    measured: quantitiesOf,
    exits,
  };
}
