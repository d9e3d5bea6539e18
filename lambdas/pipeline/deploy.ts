import { setTimeout as sleep } from "node:timers/promises";
import { runOptions } from "../../api/settings.ts";
import { buildOf } from "../aws/app-names.ts";
import type { AppDeployer, AppReader } from "../aws/apps.ts";
import { ServiceChangeRefused } from "../aws/errors.ts";
import type { Rollouts } from "../aws/rollouts.ts";
import { RetriesExhausted } from "../aws/transient.ts";
import { Addresses, Build, type BuildRow, RedeployableBuilds } from "../builds/model/rows.ts";
import { advance } from "../builds/model/transitions.ts";
import { BuildCanceled, step } from "../http/step.ts";
import type { TableReader } from "../table/reader.ts";
import type { TableWriter } from "../table/writer.ts";

/** The new version's task definition, the live version, and the warning of the image build. */
async function prepared(
  build: BuildRow,
  newestReady: string | undefined,
  image: { digest: string; log: string; warning: string | null; port: number },
  tools: { table: TableReader; apps: AppReader; deployer: AppDeployer },
): Promise<Partial<BuildRow>> {
  const [previous, taskDefinition] = await Promise.all([
    previousOf(build, newestReady, tools),
    tools.deployer.register({
      projectId: build.projectId,
      buildId: build.id,
      digest: image.digest,
      port: image.port,
      memory: runOptions(build.settings).memory,
    }),
  ]);
  const warning = [build.warning, image.warning].filter(Boolean).join("\n") || null;
  return { taskDefinition, previous, warning, buildLog: image.log };
}

/** For how long an answer of ECS that contradicts the project's builds may be an earlier state. */
const staleWithinMs = 5_000;

/**
 * The task definition that serves now. ECS may still describe the state before the project's last deployment; a rollback
 * to that state would replace the serving version, so an answer other than the newest `ready` build is read again.
 */
async function servingNow(projectId: string, newestReady: string | undefined, apps: AppReader): Promise<string | null> {
  const until = Date.now() + staleWithinMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const live = await apps.live(projectId);
    const isExpected = newestReady === undefined || (live !== null && buildOf(live) === newestReady);
    if (isExpected || Date.now() >= until) return live;
    await sleep(pauseMs);
  }
}

/** What serves the project now and how it runs, so that a rollback restores all of it. */
async function previousOf(
  { projectId }: BuildRow,
  newestReady: string | undefined,
  { table, apps }: { table: TableReader; apps: AppReader },
): Promise<BuildRow["previous"]> {
  const taskDefinition = await servingNow(projectId, newestReady, apps);
  if (taskDefinition === null) return null;
  const buildId = buildOf(taskDefinition);
  const { old } = buildId === null ? {} : await table.read({ old: Build.at({ projectId, id: buildId }) });
  const { healthPath, instances } = runOptions(old?.settings);
  return { taskDefinition, buildId, healthPath, instances };
}

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
  const { projectId, id } = build;
  await table.write({ build: Build.update({ projectId, id }, { set: { waitedAt: new Date().toISOString() } }) });
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
 * building → deploying. The same write sets the status and records the live version. If a retried step read it later, it would
 * take the new version for the previous one and roll back to it. ECS refuses changes while an earlier deployment of the
 * service has not ended, for example while its old version drains; then the step asks to be called again.
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
  let { build } = stored;
  if (
    unfinished.some(({ taskDefinition }) => taskDefinition === undefined || taskDefinition !== build?.taskDefinition)
  ) {
    if (build) await noteWait(build, table);
    return { waiting: true as const };
  }
  let isRepeated = true;
  if (build?.status === "building") {
    const set = await prepared(build, stored.redeployable?.buildIds[0], image, { table, apps, deployer });
    const advanced = await advance(table, deployment, "building", "deploying", set, new Date());
    build = advanced.won ? { ...build, ...set, status: "deploying" } : advanced.build;
    isRepeated = !advanced.won;
  }
  if (build?.status !== "deploying" || !build.taskDefinition) throw new BuildCanceled();
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
