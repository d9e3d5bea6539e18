import type { ListedBuildReply, RedeployBlock } from "../api/builds.ts";
import { client } from "./api.ts";
import { useLoad } from "./load.ts";

export interface ProjectIds {
  orgId: string;
  projectId: string;
}

/** A project's newest builds. */
export interface BuildsSummary {
  builds: readonly ListedBuildReply[];
  /** False if the service could not read which build is live; then `live` may be missing. */
  isLiveKnown: boolean;
  /** The live build, if it is among the newest. */
  live: ListedBuildReply | undefined;
  newest: ListedBuildReply | undefined;
  running: ListedBuildReply | undefined;
}

const unfinished: ReadonlySet<string> = new Set(["pending", "analyzing", "building", "deploying"]);

/** Whether a listed build is still running. A canceled build keeps the status in which it stopped. */
export function isRunning(build: Pick<ListedBuildReply, "status" | "redeployBlockedBy">): boolean {
  return unfinished.has(build.status) && build.redeployBlockedBy !== "canceled";
}

/** Whether a running build can still be canceled. */
export const canCancel = (status: string): boolean => unfinished.has(status) && status !== "deploying";

/** Whether a listed build is live; `unknown` if ECS could not be read and the build may be live. */
export type LiveMark = "live" | "not_live" | "unknown";

export function liveMark(build: Pick<ListedBuildReply, "isLive" | "status">, isLiveKnown: boolean): LiveMark {
  if (build.isLive) return "live";
  return isLiveKnown || !["ready", "error", "deploying"].includes(build.status) ? "not_live" : "unknown";
}

export const redeployReasons: Readonly<Record<RedeployBlock, string>> = {
  live: "This build serves already. Use Rebuild to apply changed variables.",
  not_successful: "Only builds that became ready can be deployed again.",
  canceled: "A canceled build cannot be deployed again.",
  outside_window: "Only the ten most recent successful builds can be deployed again.",
};

/** Loads the newest builds of a project: every two seconds while one is running, otherwise less often, to show other users' builds. */
export function useBuildsSummary(ids: ProjectIds, isWanted = true) {
  const key = isWanted && ids.projectId ? `builds/${ids.projectId}/newest` : undefined;
  return useLoad(
    key,
    async (signal): Promise<BuildsSummary> => {
      const { builds, redeployAvailability } = await client.listBuilds({ ...ids, limit: 20 }, { signal });
      return {
        builds,
        isLiveKnown: redeployAvailability.status === "available",
        live: builds.find(({ isLive }) => isLive),
        newest: builds[0],
        running: builds.find(isRunning),
      };
    },
    { every: ({ running, isLiveKnown }) => (running ? 2 : isLiveKnown ? 15 : 5) },
  );
}

/** The addresses of a project's app. */
export function useEndpoints(ids: ProjectIds, isWanted = true) {
  const key = isWanted && ids.projectId ? `builds/${ids.projectId}/endpoints` : undefined;
  return useLoad(key, (signal) => client.listEndpoints(ids, { signal }));
}

/** The seconds that a build took, or has taken until now. */
export function buildSeconds(build: { createdAt: string; updatedAt: string }, running: boolean, nowMs: number): number {
  return ((running ? nowMs : Date.parse(build.updatedAt)) - Date.parse(build.createdAt)) / 1000;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
