import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteServiceCommand,
  type ECSClient,
  ListGatewayRoutesCommand,
  paginateListServices,
  waitUntilServicesInactive,
} from "@aws-sdk/client-ecs";
import {
  DeleteFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
  ResourceNotFoundException,
} from "@aws-sdk/client-lambda";
import { paginateListExecutions, type SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";

/** The functions that start deployments or restore services. */
const starters = ["create-build", "rebuild", "redeploy-build", "reconcile-locks", "execution-ended"];

async function ofEachStarter(stack: string, change: (FunctionName: string) => Promise<unknown>): Promise<void> {
  for (const id of starters) {
    await change(`${stack}-${id}`).catch((error) => {
      // An earlier teardown may have deleted the function.
      if (!(error instanceof ResourceNotFoundException)) throw error;
    });
  }
}

/** Prevents new deployments, by setting the concurrency of the functions that start them to 0. Running ones continue. */
export function freeze(stack: string, lambda: LambdaClient): Promise<void> {
  return ofEachStarter(stack, (FunctionName) =>
    lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 })),
  );
}

/** Undoes `freeze`, so that deployments can start again. */
export function unfreeze(stack: string, lambda: LambdaClient): Promise<void> {
  return ofEachStarter(stack, (FunctionName) => lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName })));
}

/** Stops the running deployments and returns their number. */
export async function endDeployments(sfn: SFNClient, stateMachineArn: string): Promise<number> {
  const running: string[] = [];
  for await (const page of paginateListExecutions({ client: sfn }, { stateMachineArn, statusFilter: "RUNNING" })) {
    running.push(...(page.executions ?? []).flatMap(({ executionArn }) => executionArn ?? []));
  }
  for (const executionArn of running) {
    await sfn.send(new StopExecutionCommand({ executionArn, cause: "The service is being deleted." }));
  }
  return running.length;
}

/** The names of the apps' services in the cluster. */
export async function appServices(ecs: ECSClient, cluster: string): Promise<string[]> {
  const arns: string[] = [];
  for await (const page of paginateListServices({ client: ecs }, { cluster })) arns.push(...(page.serviceArns ?? []));
  return arns.map((arn) => arn.split("/").at(-1) ?? "").filter((name) => name.startsWith("app-"));
}

const routesGoneSeconds = 900;

async function untilNoRoutes(ecs: ECSClient, cluster: string, everySeconds: number): Promise<void> {
  for (const until = Date.now() + routesGoneSeconds * 1000; Date.now() < until; await sleep(everySeconds * 1000)) {
    const { gatewayRoutes = [] } = await ecs.send(new ListGatewayRoutesCommand({ cluster }));
    if (gatewayRoutes.length === 0) return;
  }
  throw new Error(
    "The gateway still has routes after 15 minutes. Look at them in the ECS console, then run this again.",
  );
}

/** Deletes these services and waits until their tasks and gateway routes no longer exist. */
export async function removeServices(
  ecs: ECSClient,
  cluster: string,
  services: readonly string[],
  everySeconds = 5,
): Promise<void> {
  for (const service of services) await ecs.send(new DeleteServiceCommand({ cluster, service, force: true }));
  for (let first = 0; first < services.length; first += 10) {
    const ten = services.slice(first, first + 10);
    await waitUntilServicesInactive(
      { client: ecs, maxWaitTime: 900, minDelay: everySeconds, maxDelay: 3 * everySeconds },
      { cluster, services: ten },
    );
  }
  await untilNoRoutes(ecs, cluster, everySeconds);
}
