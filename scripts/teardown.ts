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
import { accessLogBucket, emptyBucket } from "./aws/empty-bucket.ts";
import { deleteRepositories, projectRepositories } from "./aws/repositories.ts";
import { appServices, endDeployments, freeze, removeServices } from "./aws/stop-apps.ts";

const usage = `Usage: npm run teardown -- --stack NAME [--everything] [--confirm NAME]

Takes a deployed service down: its apps, then the stack. Table, buckets, images and a snapshot of the database stay,
unless --everything is given. --confirm answers the question for a script.`;

const root = join(import.meta.dirname, "..");

function run(program: string, args: string[], again = "this"): void {
  const { status } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (status !== 0)
    throw new Error(`${program} ${args.slice(0, 2).join(" ")} failed. Mend what it says, then run ${again} again.`);
}

async function confirmed(
  deployed: Deployed,
  everything: boolean,
  services: string[],
  given?: string,
): Promise<boolean> {
  console.log(
    `This stops ${services.length} apps of ${deployed.stack} at ${deployed.apiAddress} and deletes the stack.`,
  );
  console.log(
    everything
      ? "It also DESTROYS its data: the table, all source archives and files, all images, all databases."
      : `It keeps the table, the buckets, the images (repositories ${deployed.repositoryPrefix}/…), their key, and a last snapshot of the databases.`,
  );
  if (given !== undefined) return given === deployed.stack;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Type ${deployed.stack} to go on: `).finally(() => terminal.close());
  return answer.trim() === deployed.stack;
}

async function emptyAll(deployed: Deployed): Promise<void> {
  const s3 = new S3Client();
  const logs = await Promise.all(deployed.buckets.map((bucket) => accessLogBucket(s3, bucket)));
  const all = new Set([...deployed.buckets, ...logs.filter((bucket) => bucket !== undefined)]);
  for (const bucket of all) console.log(`${bucket}: ${await emptyBucket(s3, bucket)} objects deleted.`);
}

async function deleteImages(deployed: Deployed): Promise<void> {
  const ecr = new ECRClient();
  const repositories = await projectRepositories(deployed.repositoryPrefix, ecr);
  await deleteRepositories(repositories, ecr);
  console.log(`${repositories.length} repositories of images deleted.`);
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
  const lambda = new LambdaClient();
  const ecs = new ECSClient();
  const deployed = await findDeployed(values.stack, lambda);
  const services = await appServices(ecs, deployed.cluster);
  if (!(await confirmed(deployed, values.everything, services, values.confirm))) {
    throw new Error("Nothing was touched: the answer was not the stack's name.");
  }
  await freeze(deployed.stack, lambda);
  const ended = await endDeployments(new SFNClient(), deployed.stateMachineArn);
  console.log(`No deployment can begin any more; ${ended} were ended.`);
  // A deployment that had just begun may have made one more.
  await removeServices(ecs, deployed.cluster, await appServices(ecs, deployed.cluster));
  console.log("No app runs any more.");

  const removal = values.everything ? "everything" : "keep-data";
  const context = { stackName: deployed.stack, database: deployed.database, removal };
  const options = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  run("npx", ["cdk", "deploy", deployed.stack, "--require-approval", "never", ...options]);
  if (values.everything) {
    await emptyAll(deployed);
    await deleteImages(deployed);
  }
  const destroy = ["cdk", "destroy", deployed.stack, "--force", ...options];
  // By now the functions that this script finds the service by may be gone.
  run("npx", destroy, `npx ${destroy.join(" ")}`);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
