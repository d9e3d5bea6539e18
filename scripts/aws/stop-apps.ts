import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteServiceCommand,
  type ECSClient,
  ListGatewayRoutesCommand,
  paginateListServices,
  waitUntilServicesInactive,
} from "@aws-sdk/client-ecs";
import { type LambdaClient, PutFunctionConcurrencyCommand } from "@aws-sdk/client-lambda";
import { paginateListExecutions, type SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import type { Deployed } from "./deployed.ts";

/** The functions that start deployments, or put services back after one. */
const starters = ["create-build", "rebuild", "redeploy-build", "sweep", "execution-ended"];

/** Lets no deployment begin any more and ends those that run: afterwards nothing makes services by itself. */
export async function freeze(deployed: Deployed, clients: { lambda: LambdaClient; sfn: SFNClient }): Promise<number> {
  for (const id of starters) {
    const FunctionName = `${deployed.stack}-${id}`;
    await clients.lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
  }
  let count = 0;
  const running = { stateMachineArn: deployed.stateMachineArn, statusFilter: "RUNNING" } as const;
  for await (const { executions = [] } of paginateListExecutions({ client: clients.sfn }, running)) {
    for (const { executionArn } of executions) {
      await clients.sfn.send(new StopExecutionCommand({ executionArn, cause: "The service is being taken down." }));
      count += 1;
    }
  }
  return count;
}

/** The names of the services that the pipeline made in the cluster. */
export async function appServices(ecs: ECSClient, cluster: string): Promise<string[]> {
  const arns: string[] = [];
  for await (const page of paginateListServices({ client: ecs }, { cluster })) arns.push(...(page.serviceArns ?? []));
  return arns.map((arn) => arn.split("/").at(-1) ?? "").filter((name) => name.startsWith("app-"));
}

const routesGoneSeconds = 900;

async function untilNoRoutes(ecs: ECSClient, cluster: string): Promise<void> {
  for (const until = Date.now() + routesGoneSeconds * 1000; Date.now() < until; await sleep(5_000)) {
    const { gatewayRoutes = [] } = await ecs.send(new ListGatewayRoutesCommand({ cluster }));
    if (gatewayRoutes.length === 0) return;
  }
  throw new Error(
    "The gateway still has routes after 15 minutes. Look at them in the ECS console, then run this again.",
  );
}

/** Deletes these services and waits until their tasks, and their routes through the gateway, are gone. */
export async function removeServices(ecs: ECSClient, cluster: string, services: readonly string[]): Promise<void> {
  for (const service of services) await ecs.send(new DeleteServiceCommand({ cluster, service, force: true }));
  for (let first = 0; first < services.length; first += 10) {
    const ten = services.slice(first, first + 10);
    await waitUntilServicesInactive(
      { client: ecs, maxWaitTime: 900, minDelay: 5, maxDelay: 15 },
      { cluster, services: ten },
    );
  }
  await untilNoRoutes(ecs, cluster);
}
