import type { ListedBuildReply } from "../api/builds.ts";
import { client } from "./api.ts";
import { type Loaded, useLoad } from "./load.ts";

/** What serves: a build, nothing, or what could not be read. */
export type LiveBuild = { state: "live"; build: ListedBuildReply } | { state: "none" } | { state: "unknown" };

interface ProjectIds {
  orgId: string;
  projectId: string;
}

/** The live build among the newest hundred; an older one is unknown. */
async function findLiveBuild(ids: ProjectIds, signal: AbortSignal): Promise<LiveBuild> {
  const { builds, nextCursor, redeployAvailability } = await client.listBuilds({ ...ids, limit: 100 }, { signal });
  const build = builds.find(({ isLive, status }) => isLive && (status === "ready" || status === "error"));
  if (build) return { state: "live", build };
  return { state: redeployAvailability.status === "available" && nextCursor === null ? "none" : "unknown" };
}

/** The build that the project serves; its key is `live-build/<project id>`. */
export function useLiveBuild(ids: ProjectIds): Loaded<LiveBuild> {
  return useLoad(`live-build/${ids.projectId}`, (signal) => findLiveBuild(ids, signal));
}
