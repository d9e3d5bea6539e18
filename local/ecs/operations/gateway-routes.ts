import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { isPortFree } from "../../ports.ts";
import { portHolder } from "../../process/listening.ts";
import { nameOf } from "../arns.ts";
import { serviceUrl } from "../describe/deployment.ts";
import type { Move } from "../public-address.ts";
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

/**
 * Routes of services that do not exist yet. The port of a service is chosen before its creation, so that a project has
 * its address from the beginning. The ARN does not contain the name, so the requested names are kept by ARN.
 */
function createReservations(services: Services) {
  const names = new Map<string, string>();
  return {
    route(name: string) {
      const gatewayRouteArn = services.arns.route(name, reservedPortName);
      names.set(gatewayRouteArn, name);
      return {
        gatewayRouteArn,
        serviceArn: services.arns.service(name),
        serviceContainerPortName: reservedPortName,
        status: "CREATING",
      };
    },
    async describe(gatewayRouteArn: string) {
      const name = names.get(gatewayRouteArn);
      if (name === undefined) throw new AwsError("ResourceNotFoundException", "Gateway route not found.");
      return { ...this.route(name), serviceUrl: `http://127.0.0.1:${await services.portFor(name)}` };
    },
  };
}
const reservedPortName = "http";

/**
 * Reserves the address of a service. An existing service opens its port; otherwise the port only has to be free.
 * Returns the new port if another program uses the old one.
 */
export async function reserveAddress(services: Services, name: string): Promise<Move | undefined> {
  const service = services.controllers.get(name);
  if (service?.record.status === "ACTIVE") return service.open();
  const from = service?.record.port || (await services.portFor(name));
  if (await isPortFree(from)) return undefined;
  const holder = await portHolder(from);
  const to = await services.addresses.freePortFor(name);
  if (service) {
    // A deleted service was deployed before, so its address is already published and the change must be announced.
    service.record.port = to;
    await service.save();
    await services.addresses.onMoved(name, `http://127.0.0.1:${to}`);
  }
  return { from, holder, to };
}

function list(services: Services, reservations: ReturnType<typeof createReservations>): Operation {
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
    const isUnknown = input.service !== undefined && !services.controllers.has(nameOf(input.service));
    if (isUnknown && input.status === undefined) routes.push(reservations.route(nameOf(input.service ?? "")));
    const { rows, next } = page(routes, input);
    const { gateway: gatewayArn, cluster: clusterArn } = services.arns;
    return { gatewayRoutes: rows.map((route) => ({ ...route, gatewayArn, clusterArn })), ...next };
  });
}

function describe(services: Services, reservations: ReturnType<typeof createReservations>): Operation {
  return operation(z.object({ gatewayRouteArn: z.string().min(1) }), async ({ gatewayRouteArn }) => {
    const service = existing(services).find(
      (candidate) => routeOf(services, candidate).gatewayRouteArn === gatewayRouteArn,
    );
    if (!service) return { gatewayRoute: await reservations.describe(gatewayRouteArn) };
    return { gatewayRoute: { ...routeOf(services, service), serviceUrl: serviceUrl(service) } };
  });
}

/** ListGatewayRoutes, DescribeGatewayRoute. */
export function gatewayRouteOperations(services: Services): Record<string, Operation> {
  const reservations = createReservations(services);
  return { ListGatewayRoutes: list(services, reservations), DescribeGatewayRoute: describe(services, reservations) };
}
