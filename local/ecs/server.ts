import type { JsonService } from "../aws/service.ts";
import type { Logs } from "../logs/server.ts";
import { createArns } from "./arns.ts";
import type { Cluster } from "./cluster.ts";
import { installPortMap } from "./environment.ts";
import type { TestHeader } from "./gateway.ts";
import { claimAddress, gatewayRouteOperations } from "./operations/gateway-routes.ts";
import type { Services } from "./operations/known-services.ts";
import { serviceDeploymentOperations } from "./operations/service-deployments.ts";
import { serviceOperations } from "./operations/services.ts";
import { taskDefinitionOperations } from "./operations/task-definitions.ts";
import { taskOperations } from "./operations/tasks.ts";
import type { Move } from "./public-address.ts";
import { ServiceController } from "./service-controller.ts";
import { Store } from "./store.ts";
import type { TaskHost } from "./task.ts";

export interface EcsOptions {
  /** Holds the state of the cluster; belongs to one process at a time. */
  dir: string;
  region?: string;
  accountId?: string;
  clusterName: string;
  gateway: { testHeader: TestHeader };
  logs: Pick<Logs, "put">;
  /** The public port of a new service; 0 takes any free one. It is remembered from then on. */
  portFor(serviceName: string): number | Promise<number>;
  /** As `portFor`, but a free port when that one is taken, remembered from then on; without it, any free one. */
  freePortFor?(serviceName: string): Promise<number>;
  /** Called when a service's address had to change, and again after a restart until it has resolved. */
  onMoved?(serviceName: string, url: string): Promise<void>;
  /** What an image reference stands for here; a rejection is a failed image pull. */
  resolveImage: TaskHost["resolveImage"];
  /** Variables to add to a task's environment; those of its task definition win. */
  taskCredentials?: TaskHost["taskCredentials"];
  now?: () => number;
}

export interface Ecs {
  service: JsonService;
  /** Starts again what was live or being deployed when the last process ended; resolves when its addresses listen. */
  resume(): Promise<void>;
  /** Makes sure of a service's address, existing or not yet, and gives the move when its port was taken. */
  claimAddress(serviceName: string): Promise<Move | undefined>;
  /** Ends every task (SIGTERM, after 3 s SIGKILL) within 4 s; the state is kept for the next start. */
  close(): Promise<void>;
}

const closeGraceMs = 3000;

/** The part of ECS that the service uses: blue/green services of one task each, behind a gateway on 127.0.0.1. */
export function createEcs(options: EcsOptions): Ecs {
  const { region = "us-east-1", accountId = "000000000000", clusterName } = options;
  const { resolveImage, taskCredentials } = options;
  const store = new Store(options.dir);
  const cluster: Cluster = {
    arns: createArns({ region, accountId, clusterName }),
    store,
    testHeader: options.gateway.testHeader,
    addresses: {
      freePortFor: async (name) => (await options.freePortFor?.(name)) ?? 0,
      onMoved: async (name, url) => options.onMoved?.(name, url),
    },
    host: {
      resolveImage,
      ...(taskCredentials ? { taskCredentials } : {}),
      log: (line) => options.logs.put(line),
      portMap: installPortMap(options.dir),
      now: options.now ?? Date.now,
    },
  };
  const controllers = new Map(
    [...store.services.values()].map((record) => [record.name, new ServiceController(cluster, record)]),
  );
  const services: Services = { ...cluster, controllers, portFor: options.portFor };
  const operations = {
    ...taskDefinitionOperations(cluster),
    ...serviceOperations(services),
    ...serviceDeploymentOperations(services),
    ...taskOperations(services),
    ...gatewayRouteOperations(services),
  };
  return {
    service: { target: "AmazonEC2ContainerServiceV20141113", operations },
    resume: async () => {
      await Promise.all([...controllers.values()].map((service) => service.resume()));
    },
    claimAddress: (serviceName) => claimAddress(services, serviceName),
    close: async () => {
      await Promise.all([...controllers.values()].map((service) => service.close(closeGraceMs)));
      await store.close();
    },
  };
}
