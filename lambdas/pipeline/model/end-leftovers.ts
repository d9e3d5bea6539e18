import { buildOf } from "../../aws/app-names.ts";
import { Build } from "../../builds/model/rows.ts";
import type { BuildKey } from "../../builds/model/transitions.ts";
import { type RestoreTools, steer } from "./restore-revision.ts";

/**
 * Ends the deployments for which a build waits although their builds are errors already. A step that went on for long after
 * its execution had been aborted started them; no step answers their hook, and an app that never becomes healthy opens none.
 * ECS may still describe a deployment that has ended: it refuses to roll that back.
 */
export async function endLeftovers({ projectId, buildId }: BuildKey, tools: RestoreTools): Promise<void> {
  const { build } = await tools.table.read({ build: Build.at({ projectId, id: buildId }) });
  if (build?.waitedAt === undefined) return;
  for (const { arn, taskDefinition } of await tools.rollouts.unfinished(projectId)) {
    const id = taskDefinition === undefined ? null : buildOf(taskDefinition);
    const { other } = id === null ? {} : await tools.table.read({ other: Build.at({ projectId, id }) });
    if (other?.status !== "error") continue;
    if (other.previous) await steer(arn, false, tools);
    // ECS cannot roll a first deployment back. From `deploying` on, the service may be that of the waiting build itself.
    else if (build.status === "building") await tools.deployer.remove(projectId);
  }
}
