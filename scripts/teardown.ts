import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { ECRClient } from "@aws-sdk/client-ecr";
import { ECSClient } from "@aws-sdk/client-ecs";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { type Deployed, findDeployed } from "./aws/deployed.ts";
import { appServices } from "./aws/stop-apps.ts";
import { takeDown } from "./aws/take-down.ts";

const usage = `Usage: npm run teardown -- --stack NAME [--everything] [--confirm NAME]

Deletes a deployed service: its apps, then the stack. The table, buckets, images and a snapshot of the database are kept,
unless --everything is given. --confirm answers the question in a script. A run after an abort continues.`;

const root = join(import.meta.dirname, "..");

function cdk(args: string[]): void {
  const { status } = spawnSync("npx", ["cdk", ...args], { cwd: root, stdio: "inherit" });
  if (status !== 0)
    throw new Error(`cdk ${args.slice(0, 2).join(" ")} failed. Fix the reported problem, then run this again.`);
}

async function confirmed(deployed: Deployed, everything: boolean, apps: number, given?: string): Promise<boolean> {
  const { stack, repositoryPrefix, apiAddress } = deployed;
  console.log(`This stops ${apps} apps of ${stack}${apiAddress ? ` at ${apiAddress}` : ""} and deletes the stack.`);
  console.log(
    everything
      ? "It also DESTROYS its data: the table, all source archives and files, all images, all databases."
      : `It keeps the table, the buckets, the images (repositories ${repositoryPrefix}/…), their key, and a last snapshot of the databases.`,
  );
  if (given !== undefined) return given === stack;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Type ${stack} to continue: `).finally(() => terminal.close());
  return answer.trim() === stack;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      stack: { type: "string" },
      everything: { type: "boolean", default: false },
      confirm: { type: "string" },
    },
  });
  if (!values.stack) throw new Error(usage);
  const { everything } = values;
  const deployed = await findDeployed(values.stack);
  const clients = {
    lambda: new LambdaClient(),
    ecs: new ECSClient(),
    sfn: new SFNClient(),
    s3: new S3Client(),
    ecr: new ECRClient(),
  };
  const services = deployed.cluster === undefined ? [] : await appServices(clients.ecs, deployed.cluster);
  if (!(await confirmed(deployed, everything, services.length, values.confirm))) {
    throw new Error("Nothing was deleted: the answer was not the stack's name.");
  }
  await takeDown(deployed, { everything, clients, cdk, say: console.log });
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
