import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { nameOf, newRevisionId } from "../arns.ts";
import { describeService } from "../describe.ts";
import {
  deploymentConfiguration,
  gatewayConnector,
  isRunning,
  type RevisionRecord,
  type ServiceRecord,
  type TaskDefinitionRecord,
} from "../records.ts";
import { type Cluster, ServiceController } from "../service-controller.ts";
import { page, pageInput } from "./page.ts";
import { findTaskDefinition } from "./task-definitions.ts";

/** The services of the cluster, by name. */
export interface Services extends Cluster {
  controllers: Map<string, ServiceController>;
  portFor(serviceName: string): number | Promise<number>;
}

const clusterInput = { cluster: z.string().optional() };
const invalid = (message: string) => new AwsError("InvalidParameterException", message);

/** The service that a name or an ARN names; throws ServiceNotFoundException. */
export function findService({ controllers }: Services, nameOrArn: string): ServiceController {
  const service = controllers.get(nameOf(nameOrArn));
  if (!service) throw new AwsError("ServiceNotFoundException", "Service not found.");
  return service;
}

function activeService(services: Services, nameOrArn: string): ServiceController {
  const service = findService(services, nameOrArn);
  if (service.record.status !== "ACTIVE") throw new AwsError("ServiceNotActiveException", "Service was not ACTIVE.");
  return service;
}

function deployable(services: Services, reference: string, connector: { portName: string }): TaskDefinitionRecord {
  const definition = findTaskDefinition(services, reference);
  if (definition.status === "INACTIVE") throw new AwsError("ClientException", "TaskDefinition is inactive");
  const names = definition.containerDefinitions[0].portMappings?.map(({ name }) => name) ?? [];
  if (!names.includes(connector.portName))
    throw invalid(`The port name ${connector.portName} is not a port mapping of the task definition.`);
  return definition;
}

function newRevision(services: Services, service: ServiceRecord, definition: TaskDefinitionRecord): RevisionRecord {
  const id = newRevisionId();
  return {
    arn: services.arns.revision(service.name, id),
    startedBy: `ecs-svc/${id}`,
    taskDefinition: definition.taskDefinitionArn,
    gatewayConnectors: service.gatewayConnectors,
    createdAt: services.host.now(),
  };
}

const createInput = z.looseObject({
  ...clusterInput,
  serviceName: z.string().regex(/^[A-Za-z0-9_-]{1,255}$/),
  taskDefinition: z.string().min(1),
  desiredCount: z.int().min(0).default(1),
  clientToken: z.string().max(36).optional(),
  deploymentController: z.looseObject({ type: z.literal("ECS") }).optional(),
  deploymentConfiguration,
  gatewayConnectors: z.tuple([gatewayConnector]),
});

function create(services: Services): Operation {
  const creating = new Map<string, Promise<object>>();
  const run = async (input: z.infer<typeof createInput>): Promise<object> => {
    const { cluster: _, serviceName, taskDefinition, desiredCount, clientToken, ...rest } = input;
    const { deploymentConfiguration: configuration, deploymentController: __, gatewayConnectors, ...described } = rest;
    const existing = services.controllers.get(serviceName);
    if (existing && existing.record.status !== "INACTIVE") {
      if (clientToken !== undefined && existing.record.clientToken === clientToken)
        return { service: describeService(services.arns, existing) };
      throw invalid("Creation of service was not idempotent.");
    }
    const definition = deployable(services, taskDefinition, gatewayConnectors[0]);
    const record: ServiceRecord = {
      name: serviceName,
      status: "ACTIVE",
      ...(clientToken === undefined ? {} : { clientToken }),
      createdAt: services.host.now(),
      desiredCount,
      port: existing?.record.port || (await services.portFor(serviceName)),
      configuration,
      gatewayConnectors,
      described,
      revisions: [],
      deployments: [],
      events: [],
      stoppedTasks: [],
    };
    const service = new ServiceController(services, record);
    await service.open().catch((error: unknown) => {
      throw new AwsError("ServerException", `The gateway cannot listen on port ${record.port}: ${String(error)}`, 500);
    });
    services.store.services.set(serviceName, record);
    services.controllers.set(serviceName, service);
    service.deploy(newRevision(services, record, definition));
    await service.save();
    return { service: describeService(services.arns, service) };
  };
  return operation(createInput, async (input) => {
    services.arns.requireCluster(input.cluster);
    // Of two calls at the same time the second sees what the first has made.
    const before = creating.get(input.serviceName);
    const result = (before ?? Promise.resolve()).catch(() => {}).then(() => run(input));
    creating.set(input.serviceName, result);
    return result.finally(() => {
      if (creating.get(input.serviceName) === result) creating.delete(input.serviceName);
    });
  });
}

/** True when a deployment of exactly this is under way or has succeeded: asking again changes nothing. */
function isCurrent(service: ServiceController, definition: TaskDefinitionRecord): boolean {
  const { record } = service;
  const newest = record.deployments.find(isRunning)?.target ?? record.live;
  return service.revision(newest)?.taskDefinition === definition.taskDefinitionArn;
}

const updateInput = z.looseObject({
  ...clusterInput,
  service: z.string().min(1),
  taskDefinition: z.string().min(1).optional(),
  desiredCount: z.int().min(0).optional(),
  forceNewDeployment: z.boolean().default(false),
  deploymentConfiguration: deploymentConfiguration.partial().optional(),
  gatewayConnectors: z.tuple([gatewayConnector]).optional(),
});

function update(services: Services): Operation {
  return operation(updateInput, async (input) => {
    services.arns.requireCluster(input.cluster);
    const service = activeService(services, input.service);
    const { record } = service;
    const connectors = input.gatewayConnectors ?? record.gatewayConnectors;
    const newest = record.deployments.find(isRunning)?.target ?? record.live ?? record.deployments[0]?.target;
    const reference = input.taskDefinition ?? service.revision(newest)?.taskDefinition;
    const definition = reference === undefined ? undefined : deployable(services, reference, connectors[0]);
    const changedConnectors = JSON.stringify(connectors) !== JSON.stringify(record.gatewayConnectors);
    record.gatewayConnectors = connectors;
    record.configuration = { ...record.configuration, ...input.deploymentConfiguration };
    const asked = input.forceNewDeployment || changedConnectors || input.taskDefinition !== undefined;
    const same = definition && !input.forceNewDeployment && !changedConnectors && isCurrent(service, definition);
    if (asked && definition && !same) {
      record.desiredCount = input.desiredCount ?? record.desiredCount;
      service.deploy(newRevision(services, record, definition));
    } else if (input.desiredCount !== undefined) service.scale(input.desiredCount);
    await service.save();
    return { service: describeService(services.arns, service) };
  });
}

function remove(services: Services): Operation {
  const schema = z.object({ ...clusterInput, service: z.string().min(1), force: z.boolean().default(false) });
  return operation(schema, async ({ cluster, service: reference, force }) => {
    services.arns.requireCluster(cluster);
    const service = activeService(services, reference);
    if (!force && service.desiredCount > 0) throw invalid("The service cannot be stopped while it is scaled above 0.");
    service.delete().catch(() => {});
    await service.save();
    return { service: describeService(services.arns, service) };
  });
}

function describe(services: Services): Operation {
  const schema = z.object({
    ...clusterInput,
    services: z.array(z.string().min(1)).min(1).max(10),
    include: z.array(z.string()).optional(),
  });
  return operation(schema, ({ cluster, services: references }) => {
    services.arns.requireCluster(cluster);
    const found = references.map((reference) => services.controllers.get(nameOf(reference)));
    const missing = references.filter((_, i) => found[i] === undefined);
    return {
      services: found
        .filter((service) => service !== undefined)
        .map((service) => describeService(services.arns, service)),
      failures: missing.map((name) => ({ arn: services.arns.service(nameOf(name)), reason: "MISSING" })),
    };
  });
}

function list(services: Services): Operation {
  return operation(z.looseObject({ ...clusterInput, ...pageInput }), (input) => {
    services.arns.requireCluster(input.cluster);
    const names = [...services.controllers.values()]
      .filter(({ record }) => record.status !== "INACTIVE")
      .map(({ record }) => record.name);
    const { rows, next } = page(names.sort(), input);
    return { serviceArns: rows.map((name) => services.arns.service(name)), ...next };
  });
}

/** CreateService, UpdateService, DeleteService, DescribeServices, ListServices. */
export function serviceOperations(services: Services): Record<string, Operation> {
  return {
    CreateService: create(services),
    UpdateService: update(services),
    DeleteService: remove(services),
    DescribeServices: describe(services),
    ListServices: list(services),
  };
}
