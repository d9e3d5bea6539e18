import * as z from "zod";
import { type Operation, operation } from "../../aws/service.ts";
import { describeService } from "../describe/service.ts";
import { deploymentConfiguration, gatewayConnector, isRunning, type TaskDefinitionRecord } from "../records.ts";
import type { ServiceController } from "../service-controller.ts";
import {
  activeService,
  clusterInput,
  deployable,
  endedStatuses,
  invalid,
  newRevision,
  type Services,
} from "./known-services.ts";

/** True if this task definition is already being deployed or live. */
function isCurrent(service: ServiceController, definition: TaskDefinitionRecord): boolean {
  const { record } = service;
  const newest = record.deployments.find(isRunning)?.target ?? record.live;
  return service.revision(newest)?.taskDefinition === definition.taskDefinitionArn;
}

/** Throws while a deployment is in progress, also if it only drains the old revision. */
function refuseInProgress({ behavior }: Services, { record }: ServiceController): void {
  if (!behavior.refusesChangeInProgress || !record.deployments.some(({ status }) => !endedStatuses.has(status))) return;
  throw invalid("The service cannot be updated while a deployment is in progress.");
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

/** UpdateService; starts no deployment if the task definition is already being deployed or live. */
export function updateService(services: Services): Operation {
  return operation(updateInput, async (input) => {
    services.arns.requireCluster(input.cluster);
    const service = activeService(services, input.service);
    const { record } = service;
    const connectors = input.gatewayConnectors ?? record.gatewayConnectors;
    const newest = record.deployments.find(isRunning)?.target ?? record.live ?? record.deployments[0]?.target;
    const reference = input.taskDefinition ?? service.revision(newest)?.taskDefinition;
    const definition = reference === undefined ? undefined : deployable(services, reference, connectors[0]);
    const changedConnectors = JSON.stringify(connectors) !== JSON.stringify(record.gatewayConnectors);
    refuseInProgress(services, service);
    services.staleViews.keep(record.name, () => ({
      service: describeService(services.arns, service),
      deployments: record.deployments,
    }));
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
