import type { Metric } from "../cloudwatch/store.ts";
import type { Usage } from "../process/group-usage.ts";
import type { Arns } from "./arns.ts";
import type { TaskSet } from "./task-set.ts";

/** Where the cluster and its gateway put what they measure. */
export interface MetricSink {
  put(metric: Metric, value: number): void;
}

/** An answer that a client got, from an app or from the gateway itself. */
export interface Answered {
  status: number;
  /** From the request's arrival to the answer's headers. */
  seconds: number;
  /** The task set that was asked last; undefined if there was none. */
  set: TaskSet | undefined;
}

/** What belongs to one service in the cluster. */
interface Scope {
  arns: Arns;
  metrics: MetricSink;
  service: string;
}

const named = (arn: string, type: string) => arn.slice(arn.indexOf(type));

/**
 * Counts an answer as a load balancer does. The gateway's own answers of 500 and above count as the app's, because
 * otherwise requests to an app that does not run would be missing.
 */
export function putAnswer({ arns, metrics, service }: Scope, { status, seconds, set }: Answered): void {
  const dimensions = {
    LoadBalancer: named(arns.loadBalancer, "app/"),
    TargetGroup: named(arns.targetGroup(service, set?.revision.targetGroup ?? 0), "targetgroup/"),
  };
  const put = (name: string, value: number) =>
    metrics.put({ namespace: "AWS/ApplicationELB", name, dimensions }, value);
  put("RequestCount", 1);
  put("TargetResponseTime", seconds);
  if (status >= 500) put("HTTPCode_Target_5XX_Count", 1);
}

/** Puts what a task used since its last sample, as shares of what its task definition reserves. */
export function putUsage(
  { arns, metrics, service }: Scope,
  used: Usage,
  seconds: number,
  reserved: { cpu?: string | undefined; memory?: string | undefined },
): void {
  const dimensions = { ClusterName: named(arns.cluster, "cluster/").slice("cluster/".length), ServiceName: service };
  const put = (name: string, value: number) => metrics.put({ namespace: "AWS/ECS", name, dimensions }, value);
  const processors = Number(reserved.cpu ?? 1024) / 1024;
  if (seconds > 0) put("CPUUtilization", (100 * used.cpuSeconds) / (seconds * processors));
  if (reserved.memory) put("MemoryUtilization", (100 * used.memoryBytes) / (Number(reserved.memory) * 1024 * 1024));
}
