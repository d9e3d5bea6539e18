import type { BuildReply } from "../../../api/builds.ts";
import { limits } from "../../../api/limits.ts";
import type { AppReader } from "../../aws/apps.ts";
import type { ArchiveReader } from "../../aws/archives.ts";
import type { DeploymentStarter } from "../../aws/deployments.ts";
import type { Access } from "../../http/access.ts";
import { Problem } from "../../http/problem.ts";
import { newId } from "../../table/ids.ts";
import type { RowUpdater } from "../../table/updater.ts";
import { type LiveBuild, liveBuild } from "./live-build.ts";
import { buildReply } from "./replies.ts";
import type { BuildRow, LiveBuildCacheRow, LockRow } from "./rows.ts";
import { buildInProgress, startBuild } from "./start-build.ts";
import { newBuild } from "./transitions.ts";

export interface CopyTools {
  liveCache: RowUpdater;
  archives: ArchiveReader;
  deployments: DeploymentStarter;
  apps: AppReader;
}

/** 409 while another build of the project runs. */
export function refuseWhileRunning(lock: LockRow | undefined): void {
  if (lock) throw buildInProgress(lock);
}

/** The build that serves the project; 503 if that cannot be read. */
export async function knownLive(
  cached: LiveBuildCacheRow | undefined,
  projectId: string,
  tools: Pick<CopyTools, "apps" | "liveCache">,
): Promise<NonNullable<LiveBuild>> {
  const live = await liveBuild(cached, projectId, tools);
  if (live) return live;
  throw new Problem("live_unknown", "What is deployed could not be determined. This is temporary; please retry.", {
    retryAfterSeconds: limits.liveCacheSeconds,
  });
}

/** Starts a new build on another build's pinned archive, with its title and description (docs/api.md, Redeploy). */
export async function copyBuild(
  from: BuildRow,
  access: Access,
  tools: CopyTools,
  now: Date,
  gone: string,
): Promise<{ build: BuildReply }> {
  const archive = from.archive;
  const found = archive && (await tools.archives.find(archive.key, archive.version));
  if (!archive || !found) throw new Problem("source_gone", gone);
  const { organizationId, projectId, title, description } = from;
  const source = { kind: "copy" as const, buildId: from.id, ...archive, size: found.size };
  const { row, writes } = newBuild(
    { id: newId("bld", now), organizationId, projectId, title, description, source },
    now,
  );
  const reply = { build: buildReply(row) };
  await startBuild({ row, writes, access, tools, remember: reply });
  return reply;
}
