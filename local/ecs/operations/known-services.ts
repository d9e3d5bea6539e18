import * as z from "zod";
import { AwsError } from "../../aws/service.ts";
import { nameOf, newRevisionId } from "../arns.ts";
import type { Cluster } from "../cluster.ts";
import type { RevisionRecord, ServiceRecord, TaskDefinitionRecord } from "../records.ts";
import type { RunTasks } from "../run-tasks.ts";
import type { ServiceController } from "../service-controller.ts";
import type { StaleViews } from "../stale-views.ts";
import { findTaskDefinition } from "./task-definitions.ts";

/** The services of the cluster, by name. */
export interface Services extends Cluster {
  controllers: Map<string, ServiceController>;
  /** The old states of services that were just changed. */
  staleViews: StaleViews;
  /** The tasks outside of services. */
  runTasks: RunTasks;
  portFor(serviceName: string): number | Promise<number>;
}

/** The cluster parameter that most calls share. */
export const clusterInput = { cluster: z.string().optional() };
/** The statuses of a deployment that has ended. */
export const endedStatuses: ReadonlySet<string> = new Set(["SUCCESSFUL", "STOPPED", "ROLLBACK_SUCCESSFUL"]);
/** The error of ECS for an invalid parameter. */
export const invalid = (message: string) => new AwsError("InvalidParameterException", message);

/** Finds a service by name or ARN; throws ServiceNotFoundException. */
export function findService({ controllers }: Services, nameOrArn: string): ServiceController {
  const service = controllers.get(nameOf(nameOrArn));
  if (!service) throw new AwsError("ServiceNotFoundException", "Service not found.");
  return service;
}

/** Finds a service by name or ARN; throws ServiceNotFoundException, or ServiceNotActiveException if it was deleted. */
export function activeService(services: Services, nameOrArn: string): ServiceController {
  const service = findService(services, nameOrArn);
  if (service.record.status !== "ACTIVE") throw new AwsError("ServiceNotActiveException", "Service was not ACTIVE.");
  return service;
}

/** Finds a task definition; throws if it is inactive or has no port mapping with the connector's name. */
export function deployable(
  services: Services,
  reference: string,
  connector: { portName: string },
): TaskDefinitionRecord {
  const definition = findTaskDefinition(services, reference);
  if (definition.status !== "ACTIVE") throw new AwsError("ClientException", "TaskDefinition is inactive");
  const names = definition.containerDefinitions[0].portMappings?.map(({ name }) => name) ?? [];
  if (!names.includes(connector.portName))
    throw invalid(`The port name ${connector.portName} is not a port mapping of the task definition.`);
  return definition;
}

/** A new revision with the current configuration of the service. */
export function newRevision(
  services: Services,
  service: ServiceRecord,
  definition: TaskDefinitionRecord,
): RevisionRecord {
  const id = newRevisionId();
  return {
    arn: services.arns.revision(service.name, id),
    startedBy: `ecs-svc/${id}`,
    taskDefinition: definition.taskDefinitionArn,
    gatewayConnectors: service.gatewayConnectors,
    count: service.desiredCount,
    targetGroup: service.revisions.find(({ arn }) => arn === service.live)?.targetGroup === 0 ? 1 : 0,
    createdAt: services.host.now(),
  };
}
