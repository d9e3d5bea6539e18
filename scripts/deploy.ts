import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { CloudFormationClient } from "@aws-sdk/client-cloudformation";
import { IAMClient } from "@aws-sdk/client-iam";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { migrateAll } from "../lambdas/operator/migrate-all.ts";
import { deployCommands, stackNameOf, wasDeployed } from "./aws/deploy-commands.ts";
import { stackStatus } from "./aws/deployed.ts";
import { invokeOperator } from "./aws/invoke-operator.ts";
import { createServiceLinkedRoles } from "./aws/service-linked-roles.ts";
import { unfreeze } from "./aws/stop-apps.ts";

const root = join(import.meta.dirname, "..");

/**
 * Runs `cdk deploy` with the same arguments, then brings rows of an earlier version up to date; the first deployment of a
 * stack has two parts.
 */
async function main(args: string[]): Promise<void> {
  const stack = stackNameOf(args);
  const status = await stackStatus(stack, new CloudFormationClient()).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The status of the stack ${stack} could not be read: ${reason}. Check AWS_PROFILE and AWS_REGION.`);
  });
  if (!wasDeployed(status)) await createServiceLinkedRoles(new IAMClient(), (line) => console.error(line));
  for (const command of deployCommands(args, status)) {
    const { status: code } = spawnSync("npx", ["cdk", ...command], { cwd: root, stdio: "inherit" });
    if (code !== 0) throw new Error("cdk deploy failed. Fix the reported problem, then run this again.");
  }
  const lambda = new LambdaClient();
  // An aborted teardown may have left the concurrency of the functions at 0.
  await unfreeze(stack, lambda);
  const invoke = (input: object) => invokeOperator(lambda, `${stack}-operator`, "migrate", input);
  const { changed, conflicts } = await migrateAll(invoke, { onlyIfNeeded: true });
  if (changed > 0) console.log(`${changed} rows of an earlier version were brought up to date.`);
  for (const conflict of conflicts) console.log(conflict);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
