import { setTimeout as sleep } from "node:timers/promises";
import { runOptions } from "../../api/stored-settings.ts";
import type { AppDeployer, AppReader } from "../aws/apps.ts";
import { ServiceChangeRefused } from "../aws/errors.ts";
import type { Rollouts } from "../aws/rollouts.ts";
import { RetriesExhausted } from "../aws/transient.ts";
import { Addresses, Build, type BuildRow, RedeployableBuilds } from "../builds/model/rows.ts";
import { BuildCanceled, step } from "../http/step.ts";
import type { TableWriter } from "../table/writer.ts";
import { setOnBuild } from "./model/set-on-build.ts";
import { startDeploying } from "./model/start-deploying.ts";

/** How long one invocation waits for ECS to list the deployment that it has just started. */
const listedWithinMs = 15_000;

/** The deployment of this build's task definition, however late ECS lists it; never the first of a list. */
async function startedDeployment(build: BuildRow, taskDefinition: string, rollouts: Rollouts): Promise<string> {
  const until = Date.now() + listedWithinMs;
  const after = new Date(Date.parse(build.createdAt));
  for (let pauseMs = 50; Date.now() < until; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const deployments = await rollouts.since(build.projectId, after);
    const ours = deployments.find((one) => one.taskDefinition === taskDefinition);
    if (ours) return ours.arn;
    await sleep(pauseMs);
  }
  throw new RetriesExhausted("ECS does not list the deployment that was started");
}

/** The first wait for another deployment is kept, and shown in the build's log. */
async function noteWait(build: BuildRow, table: TableWriter): Promise<void> {
  if (build.waitedAt !== undefined) return;
  await setOnBuild(table, build, { waitedAt: new Date().toISOString() });
}

/** Starts the deployment; false while an earlier service with the same name is being deleted. */
async function applied(
  { projectId, settings }: BuildRow,
  taskDefinition: string,
  { apps, deployer }: { apps: AppReader; deployer: AppDeployer },
): Promise<boolean> {
  try {
    await deployer.apply(projectId, taskDefinition, runOptions(settings));
    return true;
  } catch (error) {
    if (!(error instanceof ServiceChangeRefused) || !(await apps.isDraining(projectId))) throw error;
    return false;
  }
}

/**
 * building → deploying, unless a release command came first; then the new version starts beside the live one. ECS refuses
 * changes while an earlier deployment of the service has not ended, for example while its old version drains; then the step
 * asks to be called again.
 */
export const handler = step("deploy", async ({ deployment, image }, { table, apps, deployer, rollouts }) => {
  const { projectId, buildId } = deployment;
  const since = new Date().toISOString();
  const [stored, unfinished] = await Promise.all([
    table.read({
      build: Build.at({ projectId, id: buildId }),
      addresses: Addresses.at({ projectId }),
      redeployable: RedeployableBuilds.at({ projectId }),
    }),
    rollouts.unfinished(projectId),
  ]);
  const own = stored.build?.taskDefinition;
  if (unfinished.some(({ taskDefinition }) => taskDefinition === undefined || taskDefinition !== own)) {
    if (stored.build) await noteWait(stored.build, table);
    return { waiting: true as const };
  }
  const tools = { table, apps, deployer };
  const newestReady = stored.redeployable?.buildIds[0];
  const { build, isRepeated } = await startDeploying(deployment, { ...stored, newestReady }, image, tools);
  if (!build) throw new BuildCanceled();
  const isApplied = isRepeated && (await apps.live(projectId)) === build.taskDefinition;
  if (!isApplied && !(await applied(build, build.taskDefinition, { apps, deployer }))) {
    await noteWait(build, table);
    return { waiting: true as const };
  }
  const known = stored.addresses?.url;
  const [serviceDeploymentArn, url] = await Promise.all([
    startedDeployment(build, build.taskDefinition, rollouts),
    known ?? apps.address(projectId),
  ]);
  if (url !== known) await table.write({ addresses: Addresses.update({ projectId }, { set: { url } }) });
  return { waiting: false as const, serviceDeploymentArn, url: url ?? null, since };
});
