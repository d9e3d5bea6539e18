import { setTimeout as sleep } from "node:timers/promises";
import type { AppDeployer, AppReader, AppSwitch } from "../../aws/apps.ts";
import { Lock } from "../../builds/model/rows.ts";
import type { BuildKey } from "../../builds/model/transitions.ts";
import type { TableReader } from "../../table/reader.ts";

interface Tools {
  table: TableReader;
  apps: AppReader;
  deployer: AppDeployer;
  traffic: AppSwitch;
}

const lookSeconds = 20;

/** One step towards the wanted task definition; true when it serves and nothing moves any more. */
async function restoreOnce(projectId: string, wanted: string | null, tools: Tools): Promise<boolean> {
  const [live, newest] = await Promise.all([tools.apps.live(projectId), tools.traffic.newest(projectId)]);
  const moving = newest !== undefined && /^(PENDING|IN_PROGRESS)$/.test(newest.status);
  if (moving) {
    const forward = wanted !== null && live === wanted;
    if (newest.hookId) await tools.traffic.answer(newest, forward ? "CONTINUE" : "ROLLBACK");
    else if (!forward) await tools.traffic.rollBack(newest);
    return false;
  }
  if (newest && /REQUESTED|ROLLBACK_IN_PROGRESS/.test(newest.status)) return false;
  if (live === wanted) return true;
  if (wanted === null) await tools.deployer.stop(projectId);
  else await tools.deployer.apply(projectId, wanted);
  return false;
}

/**
 * Brings the service of a build's project back to a task definition, or to nothing; can be called again at any time until
 * it says true. Once the build has lost the project it touches nothing: a late or repeated call must not undo what a later
 * build has deployed.
 */
export async function restoreRevision(
  { projectId, buildId }: BuildKey,
  wanted: string | null,
  tools: Tools,
): Promise<boolean> {
  const until = Date.now() + lookSeconds * 1000;
  for (let pauseMs = 20; Date.now() < until; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    const { lock } = await tools.table.read({ lock: Lock.at({ projectId }) });
    if (lock?.buildId !== buildId) return true;
    if (await restoreOnce(projectId, wanted, tools)) return true;
    await sleep(pauseMs);
  }
  return false;
}
