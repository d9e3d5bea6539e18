import { limits } from "../../../api/limits.ts";
import { buildOf } from "../../aws/app-names.ts";
import type { AppReader } from "../../aws/apps.ts";
import type { RowUpdater } from "../../table/updater.ts";
import { LiveBuildCache, type LiveBuildCacheRow } from "./rows.ts";

/** The id of the live build; null when nothing serves; `undefined` when it could not be read. */
export type LiveBuild = { buildId: string | null } | undefined;

/**
 * The build that serves the project, from the shared cache row if it is young, else from ECS. The refreshed row never
 * replaces one that was read later, so a finished swap is not undone in the cache.
 */
export async function liveBuild(
  cached: LiveBuildCacheRow | undefined,
  projectId: string,
  tools: { apps: Pick<AppReader, "live">; liveCache: RowUpdater },
): Promise<LiveBuild> {
  const readAt = new Date();
  if (cached && readAt.getTime() - Date.parse(cached.readAt) < limits.liveCacheSeconds * 1000)
    return { buildId: cached.buildId };
  try {
    const taskDefinition = await tools.apps.live(projectId);
    const buildId = taskDefinition === null ? null : buildOf(taskDefinition);
    const at = readAt.toISOString();
    const isNewer = { readAt: { is: "absentOrBelow", value: at } } as const;
    const update = LiveBuildCache.update({ projectId }, { set: { buildId, readAt: at } }, isNewer);
    tools.liveCache.updateBestEffort(update).catch(() => undefined);
    return { buildId };
  } catch {
    return undefined;
  }
}
