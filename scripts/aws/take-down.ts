import type { ECRClient } from "@aws-sdk/client-ecr";
import type { ECSClient } from "@aws-sdk/client-ecs";
import type { LambdaClient } from "@aws-sdk/client-lambda";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SFNClient } from "@aws-sdk/client-sfn";
import type { Deployed } from "./deployed.ts";
import { emptyBucket } from "./empty-bucket.ts";
import { deleteRepositories, projectRepositories } from "./repositories.ts";
import { appServices, endDeployments, freeze, removeServices, unfreeze } from "./stop-apps.ts";

export interface TakeDown {
  /** Also deletes the data and the images. */
  everything: boolean;
  clients: { lambda: LambdaClient; ecs: ECSClient; sfn: SFNClient; s3: S3Client; ecr: ECRClient };
  /** Runs a cdk command; throws if it fails. */
  cdk(args: string[]): void;
  say(line: string): void;
}

async function stopApps(deployed: Deployed, { clients, say }: TakeDown): Promise<void> {
  const { cluster, stateMachineArn } = deployed;
  const ended = stateMachineArn === undefined ? 0 : await endDeployments(clients.sfn, stateMachineArn);
  say(`New deployments are prevented; ${ended} running ones were stopped.`);
  if (cluster !== undefined) await removeServices(clients.ecs, cluster, await appServices(clients.ecs, cluster));
  say("All apps are stopped.");
}

async function destroyData(deployed: Deployed, { clients, say }: TakeDown): Promise<void> {
  for (const bucket of deployed.buckets) say(`${bucket}: ${await emptyBucket(clients.s3, bucket)} objects deleted.`);
  const repositories = await projectRepositories(deployed.repositoryPrefix, clients.ecr);
  await deleteRepositories(repositories, clients.ecr);
  say(`${repositories.length} repositories of images deleted.`);
}

/**
 * Deletes a stack: stops its apps, turns off deletion protection, deletes the data (with `everything`), then the stack.
 * Each part can run again, so a run after an abort continues. A failed run allows deployments again.
 */
export async function takeDown(deployed: Deployed, work: TakeDown): Promise<void> {
  const { stack, status, database } = deployed;
  const context = { stackName: stack, database, removal: work.everything ? "everything" : "keep-data" };
  const options = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  await freeze(stack, work.clients.lambda);
  try {
    await stopApps(deployed, work);
    // CloudFormation cannot update a stack whose deletion has started; its deletion protection is already off.
    if (!status.startsWith("DELETE_")) work.cdk(["deploy", stack, "--require-approval", "never", ...options]);
    if (work.everything) await destroyData(deployed, work);
    work.cdk(["destroy", stack, "--force", ...options]);
  } catch (error) {
    await unfreeze(stack, work.clients.lambda).catch(() =>
      work.say("The concurrency of the functions could not be reset."),
    );
    throw error;
  }
}
