import { parseArgs } from "node:util";
import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { armBuildsAtOnce } from "./aws/build-quota.ts";
import { findDeployed } from "./aws/deployed.ts";
import { smokeTest } from "./aws/smoke-test.ts";

const usage = `Usage: npm run smoke -- --stack NAME

Creates an organization in a deployed service, deploys a broken app, a working one and again a broken one through the
public API, and checks the answers of the app's public address.`;

async function printQuota(): Promise<void> {
  const atOnce = await armBuildsAtOnce().catch(() => undefined);
  if (atOnce === undefined) return console.log("--  Service Quotas does not list how many builds may run at once.");
  const advice =
    atOnce < 5 ? " Builds will wait for each other: request more from AWS (Service Quotas, CodeBuild, ARM/Small)." : "";
  console.log(`ok  ${atOnce} image builds may run at once.${advice}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { stack: { type: "string" } } });
  if (!values.stack) throw new Error(usage);
  const lambda = new LambdaClient();
  const { apiAddress, cluster } = await findDeployed(values.stack);
  if (apiAddress === undefined || cluster === undefined)
    throw new Error(`The API or the cluster of the stack ${values.stack} does not exist.`);
  await printQuota();
  const apps = { ecs: new ECSClient(), cluster };
  const service = { apiAddress, operator: `${values.stack}-operator`, lambda, apps, broken: "broken-health" } as const;
  const orgId = await smokeTest(service, console.log);
  console.log(`Slipway ${values.stack} works at ${apiAddress}. The organization ${orgId} can be left or reused.`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
