import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { nameOf } from "../arns.ts";
import { serviceUrl } from "../describe/deployment.ts";
import type { ServiceController } from "../service-controller.ts";
import type { Services } from "./known-services.ts";
import { page, pageInput } from "./page.ts";

function routeOf(services: Services, service: ServiceController) {
  const { name, status, gatewayConnectors } = service.record;
  return {
    gatewayRouteArn: services.arns.route(name, gatewayConnectors[0].portName),
    serviceArn: services.arns.service(name),
    serviceContainerPortName: gatewayConnectors[0].portName,
    status: status === "DRAINING" ? "DELETING" : "ACTIVE",
  };
}

function existing({ controllers }: Services): ServiceController[] {
  return [...controllers.values()].filter(({ record }) => record.status !== "INACTIVE");
}

function list(services: Services): Operation {
  const schema = z.object({
    ...pageInput,
    gateway: z.string().optional(),
    cluster: z.string().optional(),
    service: z.string().optional(),
    serviceContainerPortName: z.string().optional(),
    status: z.array(z.string()).optional(),
  });
  return operation(schema, (input) => {
    if (input.cluster !== undefined) services.arns.requireCluster(input.cluster);
    const routes = existing(services)
      .filter(({ record }) => input.service === undefined || record.name === nameOf(input.service))
      .map((service) => routeOf(services, service))
      .filter(({ status }) => input.status?.includes(status) ?? true)
      .filter(({ serviceContainerPortName: name }) => name === (input.serviceContainerPortName ?? name));
    const { rows, next } = page(routes, input);
    const { gateway: gatewayArn, cluster: clusterArn } = services.arns;
    return { gatewayRoutes: rows.map((route) => ({ ...route, gatewayArn, clusterArn })), ...next };
  });
}

function describe(services: Services): Operation {
  return operation(z.object({ gatewayRouteArn: z.string().min(1) }), ({ gatewayRouteArn }) => {
    const service = existing(services).find(
      (candidate) => routeOf(services, candidate).gatewayRouteArn === gatewayRouteArn,
    );
    if (!service) throw new AwsError("ResourceNotFoundException", "Gateway route not found.");
    return { gatewayRoute: { ...routeOf(services, service), serviceUrl: serviceUrl(service) } };
  });
}

/** ListGatewayRoutes, DescribeGatewayRoute. */
export function gatewayRouteOperations(services: Services): Record<string, Operation> {
  return { ListGatewayRoutes: list(services), DescribeGatewayRoute: describe(services) };
}
