import type { ListedBuildReply } from "../api/builds.ts";
import { client } from "./api.ts";
import { type Loaded, useLoad } from "./load.ts";

/** The live build: one, none, or unknown because it could not be read. */
export type LiveBuild = { state: "live"; build: ListedBuildReply } | { state: "none" } | { state: "unknown" };

interface ProjectIds {
  orgId: string;
  projectId: string;
}

/** Looks for the live build among the newest hundred; `unknown` if it may be an older one or could not be read. */
async function findLiveBuild(ids: ProjectIds, signal: AbortSignal): Promise<LiveBuild> {
  const { builds, nextCursor, redeployAvailability } = await client.listBuilds({ ...ids, limit: 100 }, { signal });
  const build = builds.find(({ isLive, status }) => isLive && (status === "ready" || status === "error"));
  if (build) return { state: "live", build };
  return { state: redeployAvailability.status === "available" && nextCursor === null ? "none" : "unknown" };
}

/** Loads the project's live build; the key is `live-build/<project id>`. */
export function useLiveBuild(ids: ProjectIds): Loaded<LiveBuild> {
  return useLoad(`live-build/${ids.projectId}`, (signal) => findLiveBuild(ids, signal));
}
