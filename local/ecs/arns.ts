import { createHash, randomBytes } from "node:crypto";
import { AwsError } from "../aws/service.ts";

export interface ArnScope {
  region: string;
  accountId: string;
  clusterName: string;
}

/** The names of everything in one cluster, as ECS writes them. */
export function createArns({ region, accountId, clusterName }: ArnScope) {
  const arn = (path: string) => `arn:aws:ecs:${region}:${accountId}:${path}`;
  const clusterArn = arn(`cluster/${clusterName}`);
  const balancing = (path: string) => `arn:aws:elasticloadbalancing:${region}:${accountId}:${path}`;
  const digest = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 32);
  return {
    cluster: clusterArn,
    gateway: arn("gateway/local"),
    taskDefinition: (family: string, revision: number) => arn(`task-definition/${family}:${revision}`),
    service: (name: string) => arn(`service/${clusterName}/${name}`),
    task: (id: string) => arn(`task/${clusterName}/${id}`),
    container: (taskId: string, name: string) => arn(`container/${clusterName}/${taskId}/${digest(name)}`),
    revision: (service: string, id: string) => arn(`service-revision/${clusterName}/${service}/${id}`),
    deployment: (service: string, id: string) => arn(`service-deployment/${clusterName}/${service}/${id}`),
    route: (service: string, portName: string) => arn(`gateway-route/local/${digest(service)}/${digest(portName)}`),
    /** The gateway's load balancer, which all services share. */
    loadBalancer: balancing(`loadbalancer/app/${clusterName}/${digest(clusterName).slice(0, 16)}`),
    /** A service has two target groups, which its revisions use in turn. */
    targetGroup: (service: string, which: 0 | 1) => {
      const id = digest(`${service} ${which}`);
      return balancing(`targetgroup/ecs-${id.slice(0, 16)}/${id.slice(16)}`);
    },
    /** Throws ClusterNotFoundException for any other cluster; as in ECS, a call without a cluster means "default". */
    requireCluster(cluster: string | undefined): void {
      if ((cluster ?? "default") !== clusterName && cluster !== clusterArn)
        throw new AwsError("ClusterNotFoundException", "Cluster not found.");
    },
  };
}
export type Arns = ReturnType<typeof createArns>;

/** The last part of an ARN, or the name itself: most calls take either. */
export function nameOf(nameOrArn: string): string {
  return nameOrArn.slice(nameOrArn.lastIndexOf("/") + 1);
}

export const newTaskId = (): string => randomBytes(16).toString("hex");
export const newDeploymentId = (): string => randomBytes(16).toString("base64url").slice(0, 21);
/** Service revisions and the older `ecs-svc/…` deployment ids are 19 decimal digits. */
export const newRevisionId = (): string =>
  String((randomBytes(8).readBigUInt64BE() % 9_000_000_000_000_000_000n) + 1_000_000_000_000_000_000n);
