import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { describeService } from "../describe/service.ts";
import { deploymentConfiguration, gatewayConnector, type ServiceRecord } from "../records.ts";
import { ServiceController } from "../service-controller.ts";
import { clusterInput, deployable, invalid, newRevision, type Services } from "./known-services.ts";

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

/** CreateService; a repeated clientToken returns the existing service. */
export function createService(services: Services): Operation {
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
    services.staleViews.keep(serviceName, () => ({
      service: existing && describeService(services.arns, existing),
      deployments: [],
    }));
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
    // Concurrent calls for the same name run one after the other, so the second call sees the service of the first.
    const before = creating.get(input.serviceName);
    const result = (before ?? Promise.resolve()).catch(() => {}).then(() => run(input));
    creating.set(input.serviceName, result);
    return result.finally(() => {
      if (creating.get(input.serviceName) === result) creating.delete(input.serviceName);
    });
  });
}
