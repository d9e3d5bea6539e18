import type { BuildStatus } from "../../../api/build.ts";
import type {
  BuildReply,
  CanceledBuildReply,
  ListedBuildReply,
  RedeployBlock,
  SingleBuildReply,
} from "../../../api/builds.ts";
import { limits } from "../../../api/limits.ts";
import type { BuildRow } from "./rows.ts";

export const unfinishedStatuses = ["pending", "analyzing", "building", "deploying"] as const;
const finalStatuses: readonly BuildStatus[] = ["ready", "error"];

/** A build with canceledAt set is finished, whatever its status says (docs/api.md, Build states). */
export function isFinished(build: Pick<BuildRow, "status" | "canceledAt">): boolean {
  return build.canceledAt !== undefined || finalStatuses.includes(build.status);
}

/** isLive is computed only for `ready` and `error`; before that it stays false (docs/api.md, isLive). */
function isLive(build: Pick<BuildRow, "id" | "status">, liveBuildId: string | null | undefined): boolean {
  return finalStatuses.includes(build.status) && build.id === liveBuildId;
}

/** The builds that can be redeployed: the ten newest successful ones other than the live one (docs/api.md, canRedeploy). */
export function redeployWindow(successes: readonly string[], liveBuildId: string | null): string[] {
  return successes.filter((id) => id !== liveBuildId).slice(0, limits.redeployCandidatesMax);
}

/** Why a build cannot be redeployed; null when it can. */
export function redeployBlockOf(
  build: Pick<BuildRow, "id" | "status" | "canceledAt">,
  liveBuildId: string | null,
  successes: readonly string[],
): RedeployBlock | null {
  if (build.canceledAt !== undefined) return "canceled";
  if (build.status !== "ready") return "not_successful";
  if (build.id === liveBuildId) return "live";
  return redeployWindow(successes, liveBuildId).includes(build.id) ? null : "outside_window";
}

/** One more than can be redeployed, because one of them may be live. */
const successesKept = limits.redeployCandidatesMax + 1;

/** The kept successful builds after another one, newest first. */
export function withSuccess(successes: readonly string[], buildId: string): string[] {
  return [...new Set([buildId, ...successes])].sort().reverse().slice(0, successesKept);
}

/** Seconds a client should wait before it polls again (docs/api.md, Polling). */
export function pollAfterSeconds(createdAt: string, now: Date): number {
  const ageSeconds = (now.getTime() - Date.parse(createdAt)) / 1000;
  if (ageSeconds < 15) return 1;
  if (ageSeconds < 60) return 2;
  return ageSeconds < 300 ? 5 : 15;
}

export function buildReply(build: BuildRow): BuildReply {
  const { id, title, description, runtime, size, status, error, suggestion, createdAt, updatedAt } = build;
  return {
    id,
    title,
    description,
    commit: null,
    version: null,
    runtime,
    size,
    status,
    error,
    suggestion,
    createdAt,
    updatedAt,
  };
}

export function listedBuildReply(
  build: BuildRow,
  live: { buildId: string | null } | undefined,
  successes: readonly string[],
): ListedBuildReply {
  const blockedBy = live ? redeployBlockOf(build, live.buildId, successes) : null;
  return {
    ...buildReply(build),
    isLive: live !== undefined && build.id === live.buildId,
    canRedeploy: live !== undefined && blockedBy === null,
    redeployBlockedBy: blockedBy,
  };
}

/** The answer of the single read; `crashes` says that the live app keeps ending by itself. */
export function singleBuildReply(
  build: BuildRow,
  liveBuildId: string | null | undefined,
  crashes: string | null = null,
): SingleBuildReply {
  const crashing = crashes === null ? [] : [{ code: "app_crashing", message: crashes, file: null, line: null }];
  return {
    ...buildReply(build),
    warning: [build.warning, crashes].filter((text) => text !== null).join("\n") || null,
    canceledAt: build.canceledAt ?? null,
    isLive: isLive(build, liveBuildId),
    findings: [...build.findings, ...crashing],
    detected: build.detected ?? null,
  };
}

export function canceledBuildReply(build: BuildRow): CanceledBuildReply {
  return { ...buildReply(build), canceledAt: build.canceledAt ?? null };
}

/** The S3 key of a build's archive. It contains the owner's ids, by which the upload's event is matched to the row. */
export function archiveKey(build: { organizationId: string; projectId: string; id: string }): string {
  return `archives/${build.organizationId}/${build.projectId}/${build.id}.zip`;
}

/** The owner in an archive's key. */
export function archiveOwner(key: string): { organizationId: string; projectId: string; buildId: string } | undefined {
  const match = /^archives\/(org_\w{26})\/(prj_\w{26})\/(bld_\w{26})\.zip$/.exec(key);
  if (!match?.[1] || !match[2] || !match[3]) return undefined;
  return { organizationId: match[1], projectId: match[2], buildId: match[3] };
}
