import { setTimeout as sleep } from "node:timers/promises";
import { runOptions } from "../../../api/stored-settings.ts";
import type { AppDeployer, AppReader, AppSwitch } from "../../aws/apps.ts";
import { isUnfinished, type ListedDeployment, type Rollouts } from "../../aws/rollouts.ts";
import { Addresses, type BuildRow, Lock } from "../../builds/model/rows.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";

export interface RestoreTools {
  table: TableReader & TableWriter;
  apps: AppReader;
  deployer: AppDeployer;
  rollouts: Rollouts;
  traffic: AppSwitch;
}

const lookSeconds = 20;
/** A deployment that ECS has not listed, or a service that has not appeared, for this long was never started. */
const listedWithinSeconds = 10;
/** The clocks of ECS and of a function may differ by this much. */
const clockSkewMs = 60_000;

/**
 * Moves a deployment that is not over toward the wanted task definition; false when it only drains. A deployment that ends
 * the tasks of the version before it is not rolled back, because nothing would serve until they run again.
 */
export async function steer(
  arn: string,
  isWanted: boolean,
  { rollouts, traffic }: Pick<RestoreTools, "rollouts" | "traffic">,
): Promise<boolean> {
  const state = await rollouts.deployment(arn);
  if (state?.stage === "CLEAN_UP") return !isWanted;
  // A deployment that ECS does not describe yet, or that is already ending, is read again.
  if (state?.status !== "PENDING" && state?.status !== "IN_PROGRESS") return true;
  if (state.hook) await traffic.answer(arn, state.hook.id, isWanted ? "CONTINUE" : "ROLLBACK");
  else if (!isWanted) await traffic.rollBack(arn);
  return true;
}

/** One step to restore the previous version; true if it serves and the build's deployment has ended. */
async function restorePrevious(
  build: BuildRow,
  previous: NonNullable<BuildRow["previous"]>,
  mayBeUnlisted: boolean,
  tools: RestoreTools,
): Promise<boolean> {
  const { projectId } = build;
  const { taskDefinition: wanted, healthPath, instances } = { ...runOptions(undefined), ...previous };
  const after = new Date(Date.parse(build.updatedAt) - clockSkewMs);
  const [live, deployments] = await Promise.all([
    tools.apps.serving(projectId),
    tools.rollouts.since(projectId, after),
  ]);
  for (const { arn, taskDefinition } of deployments.filter(isUnfinished)) {
    // ECS does not describe the revision yet. It may be the wanted one, or belong to another build, so the hook is not answered.
    if (taskDefinition === undefined) return false;
    if (await steer(arn, taskDefinition === wanted, tools)) return false;
  }
  if (live?.taskDefinition !== wanted || live.instances !== instances) {
    const changed =
      live?.taskDefinition === wanted
        ? tools.deployer.scale(projectId, instances)
        : tools.deployer.apply(projectId, wanted, { healthPath, instances });
    await changed.catch((error) => {
      // Something is still in progress; the next read finds out what.
      if (!(error instanceof Error && error.name === "ServiceChangeRefused")) throw error;
    });
    return false;
  }
  const isOfBuild = ({ taskDefinition }: ListedDeployment) => taskDefinition === build.taskDefinition;
  // The service names the wanted task definition as soon as it is asked for. If the build's deployment is the newest that is listed and
  // has succeeded, the one that moves the traffic back is not listed yet.
  const [newest] = deployments;
  if (newest?.status === "SUCCESSFUL" && isOfBuild(newest)) return false;
  return mayBeUnlisted || deployments.some(isOfBuild);
}

/**
 * A first deployment has no earlier version, and ECS refuses its rollback, so the service is deleted. If the build may still
 * be starting, its service must have been found, or not have appeared within ten seconds.
 */
function serviceRemoval({ projectId }: BuildRow, mayBeStarting: boolean, { apps, deployer, table }: RestoreTools) {
  let wasFound = !mayBeStarting;
  return async (secondsGone: number): Promise<boolean> => {
    wasFound = (await deployer.remove(projectId)) || wasFound;
    if ((await apps.live(projectId)) !== null) return false;
    if (!wasFound && secondsGone <= listedWithinSeconds) return false;
    // A new service may get another address.
    await table.write({ addresses: Addresses.update({ projectId }, { remove: ["url"] }) });
    return true;
  };
}

/**
 * Restores the version that served before a build; without one, nothing runs afterwards. It is called again until it returns
 * true. If the build no longer holds the project's lock, it changes nothing, because a late or repeated call must not undo
 * the deployment of a later build. `mayBeStarting` says that a step of the build may still run, as after an aborted execution.
 */
export async function restoreRevision(
  build: BuildRow,
  tools: RestoreTools,
  { mayBeStarting = false } = {},
): Promise<boolean> {
  const { projectId, id } = build;
  const previous = build.previous ?? null;
  const start = Date.now();
  const secondsGone = () => (Date.now() - start) / 1000;
  const removal = serviceRemoval(build, mayBeStarting, tools);
  for (let pauseMs = 20; secondsGone() < lookSeconds; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const { lock } = await tools.table.read({ lock: Lock.at({ projectId }) });
    if (lock?.buildId !== id) return true;
    const isRestored =
      previous === null
        ? await removal(secondsGone())
        : await restorePrevious(build, previous, secondsGone() > listedWithinSeconds, tools);
    if (isRestored) return true;
    await sleep(pauseMs);
  }
  return false;
}
