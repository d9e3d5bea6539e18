import type { JsonService } from "../aws/service.ts";
import type { Logs } from "../logs/server.ts";
import { createArns } from "./arns.ts";
import { type EcsBehavior, kindEcs, pause } from "./behavior.ts";
import type { Cluster } from "./cluster.ts";
import { nothingFound } from "./describe/nothing.ts";
import { installPortMap } from "./environment.ts";
import type { TestHeader } from "./gateway.ts";
import type { MetricSink } from "./measurements.ts";
import { gatewayRouteOperations, reserveAddress } from "./operations/gateway-routes.ts";
import type { Services } from "./operations/known-services.ts";
import { serviceDeploymentOperations } from "./operations/service-deployments.ts";
import { serviceOperations } from "./operations/services.ts";
import { taskDefinitionOperations } from "./operations/task-definitions.ts";
import { taskOperations } from "./operations/tasks.ts";
import { createProcessRunner, type ProcessRunnerOptions } from "./process-runner.ts";
import type { Move } from "./public-address.ts";
import { RunTasks } from "./run-tasks.ts";
import { ServiceController } from "./service-controller.ts";
import { StaleViews } from "./stale-views.ts";
import { Store } from "./store.ts";
import type { TaskRunner } from "./task-runner.ts";
import { UsageSampler } from "./usage-sampler.ts";

export interface EcsOptions {
  /** The folder of the cluster's state; only one process may use it at a time. */
  dir: string;
  region?: string;
  accountId?: string;
  clusterName: string;
  gateway: { testHeader: TestHeader };
  logs: Pick<Logs, "put">;
  /** Gets what the gateway and the tasks measure; default: nothing is measured. */
  metrics?: MetricSink;
  /** The public port of a new service; 0 means any free port. The port is saved. */
  portFor(serviceName: string): number | Promise<number>;
  /** Like `portFor`, but another free port if that one is in use; the port is saved. Default: any free port. */
  freePortFor?(serviceName: string): Promise<number>;
  /** How long another program may use the port of a service until the service gets another one. Default: 10 s. */
  portTakenMs?: number;
  /** Called when a service's address has changed; called again after a restart until it resolves once. */
  onMoved?(serviceName: string, url: string): Promise<void>;
  /** Finds the local image of a reference; a rejection is a failed image pull. */
  resolveImage: ProcessRunnerOptions["resolveImage"];
  /** Variables to add to a task's environment; the task definition overrides them. */
  taskCredentials?: ProcessRunnerOptions["taskCredentials"];
  /** How tasks run. Default: as processes, with the two functions above. */
  runner?: TaskRunner | undefined;
  /** Default: `kindEcs`. */
  behavior?: EcsBehavior | undefined;
  now?: () => number;
}

export interface Ecs {
  service: JsonService;
  /** Starts the services and deployments that ran when the last process ended; resolves when their addresses listen. */
  resume(): Promise<void>;
  /** Reserves the address of a service, which need not exist yet; returns the new port if the old one is in use. */
  reserveAddress(serviceName: string): Promise<Move | undefined>;
  /** Ends every task within 4 s (SIGTERM, after 3 s SIGKILL); the state is kept for the next start. */
  close(): Promise<void>;
}

const closeGraceMs = 3000;

/** The part of ECS that the service uses: blue/green services behind a gateway on 127.0.0.1. */
export function createEcs(options: EcsOptions): Ecs {
  const { region = "us-east-1", accountId = "000000000000", clusterName } = options;
  const { behavior = kindEcs } = options;
  const store = new Store(options.dir);
  const cluster: Cluster = {
    arns: createArns({ region, accountId, clusterName }),
    store,
    testHeader: options.gateway.testHeader,
    behavior,
    metrics: options.metrics ?? { put: () => undefined },
    addresses: {
      freePortFor: async (name) => (await options.freePortFor?.(name)) ?? 0,
      onMoved: async (name, url) => options.onMoved?.(name, url),
      portTakenMs: options.portTakenMs ?? 10_000,
    },
    host: {
      runner: options.runner ?? createProcessRunner({ ...options, portMap: installPortMap(options.dir) }),
      log: (line) => options.logs.put(line),
      now: options.now ?? Date.now,
      placed: () => pause(behavior.placementMs),
    },
  };
  const controllers = new Map(
    [...store.services.values()].map((record) => [record.name, new ServiceController(cluster, record)]),
  );
  const sampler = options.metrics && new UsageSampler(cluster, controllers);
  const staleViews = new StaleViews(behavior);
  const runTasks = new RunTasks(cluster);
  const services: Services = { ...cluster, runTasks, controllers, staleViews, portFor: options.portFor };
  const operations = {
    ...taskDefinitionOperations(cluster),
    ...serviceOperations(services),
    ...serviceDeploymentOperations(services),
    ...taskOperations(services),
    ...gatewayRouteOperations(services),
  };
  return {
    service: { target: "AmazonEC2ContainerServiceV20141113", operations, nothing: nothingFound(cluster.arns) },
    resume: async () => {
      await Promise.all([...controllers.values()].map((service) => service.resume()));
    },
    reserveAddress: (serviceName) => reserveAddress(services, serviceName),
    close: async () => {
      const services = [...controllers.values()].map((service) => service.close(closeGraceMs));
      await Promise.all([...services, runTasks.close(closeGraceMs), sampler?.close()]);
      await store.close();
    },
  };
}
