import { limits } from "../../../api/limits.ts";
import type { Item, TableWriter } from "../../table/table.ts";
import { LiveBuildCache } from "./rows.ts";

/** The id of the build that serves; null when nothing does; `undefined` when that could not be told. */
export type LiveBuild = { buildId: string | null } | undefined;

/** Reads what serves a project from the container service. */
export interface LiveSource {
  live(projectId: string): Promise<string | null>;
}

/**
 * What serves the project, from the shared cache row when it is young, else from the container service (DESIGN §5).
 * The refreshed row never replaces one that was read later, so a finished swap cannot be forgotten.
 */
export async function liveBuild(
  cached: Item | undefined,
  projectId: string,
  tools: { apps: LiveSource; table: TableWriter },
  buildOf: (taskDefinition: string) => string | null,
): Promise<LiveBuild> {
  const readAt = new Date();
  const row = LiveBuildCache.maybe(cached);
  if (row && readAt.getTime() - Date.parse(row.readAt) < limits.liveCacheSeconds * 1000)
    return { buildId: row.buildId };
  try {
    const taskDefinition = await tools.apps.live(projectId);
    const buildId = taskDefinition === null ? null : buildOf(taskDefinition);
    const at = readAt.toISOString();
    const write = LiveBuildCache.update(
      { projectId },
      { set: { buildId, readAt: at } },
      { readAt: { is: "absentOrBelow", value: at } },
    );
    if (write.kind === "update") tools.table.touch(write).catch(() => undefined);
    return { buildId };
  } catch {
    return undefined;
  }
}
