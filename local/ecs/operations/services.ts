import * as z from "zod";
import { type Operation, operation } from "../../aws/service.ts";
import { nameOf } from "../arns.ts";
import { describeService } from "../describe/service.ts";
import { createService } from "./create-service.ts";
import { activeService, clusterInput, invalid, type Services } from "./known-services.ts";
import { page, pageInput } from "./page.ts";
import { updateService } from "./update-service.ts";

function remove(services: Services): Operation {
  const schema = z.object({ ...clusterInput, service: z.string().min(1), force: z.boolean().default(false) });
  return operation(schema, async ({ cluster, service: reference, force }) => {
    services.arns.requireCluster(cluster);
    const service = activeService(services, reference);
    if (!force && service.desiredCount > 0) throw invalid("The service cannot be stopped while it is scaled above 0.");
    services.staleViews.keep(service.record.name, () => ({
      service: describeService(services.arns, service),
      deployments: service.record.deployments,
    }));
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
    const found = references.map((reference) => {
      const past = services.staleViews.of(nameOf(reference));
      const service = services.controllers.get(nameOf(reference));
      return past ? past.service : service && describeService(services.arns, service);
    });
    const missing = references.filter((_, i) => found[i] === undefined);
    return {
      services: found.filter((service) => service !== undefined),
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
    CreateService: createService(services),
    UpdateService: updateService(services),
    DeleteService: remove(services),
    DescribeServices: describe(services),
    ListServices: list(services),
  };
}
