import type { BuildStatus } from "../../../api/builds.ts";
import { absent, oneOf, type Write } from "../../table/entity.ts";
import type { TableReader, TableWriter } from "../../table/table.ts";
import { unfinishedStatuses, withSuccess } from "./replies.ts";
import {
  Build,
  type BuildRow,
  type BuildSource,
  LiveBuildCache,
  Lock,
  type LockRow,
  RedeployableBuilds,
} from "./rows.ts";

type Table = TableReader & TableWriter;

export interface BuildKey {
  organizationId: string;
  projectId: string;
  buildId: string;
}

/** How long a lock is trusted before whoever meets it looks whether its execution lives. */
const leaseSeconds = { created: 60, running: 900 };

export function leaseUntil(now: Date, seconds: number = leaseSeconds.running): string {
  return new Date(now.getTime() + seconds * 1000).toISOString();
}

export interface NewBuild {
  id: string;
  projectId: string;
  organizationId: string;
  title: string | null;
  description: string | null;
  source: BuildSource;
}

/** A new build and its project's lock: both or neither (one build at a time, SPEC §8). The lock is the first write. */
export function newBuild(build: NewBuild, now: Date): { row: BuildRow; writes: Write[] } {
  const at = now.toISOString();
  const row: BuildRow = {
    ...build,
    status: "pending",
    runtime: null,
    size: null,
    error: null,
    suggestion: null,
    warning: null,
    findings: [],
    createdAt: at,
    updatedAt: at,
  };
  const lock: LockRow = {
    organizationId: build.organizationId,
    projectId: build.projectId,
    buildId: build.id,
    status: "pending",
    source: build.source.kind,
    createdAt: at,
    leaseUntil: leaseUntil(now, leaseSeconds.created),
    lockShard: "LOCK",
  };
  const lockWrite = Lock.put({ projectId: build.projectId }, lock, { pk: absent });
  return { row, writes: [lockWrite, Build.put({ projectId: build.projectId, id: build.id }, row, { pk: absent })] };
}

export type Advance = { won: true } | { won: false; build: BuildRow | undefined };

/**
 * A stage boundary: one conditional write of the build and its lock. It is lost to a cancel, to an end, and to a lock
 * that has another owner; the build as it stands then tells which.
 */
export async function advance(
  table: Table,
  key: BuildKey,
  from: BuildStatus,
  to: BuildStatus,
  set: Partial<BuildRow>,
  now: Date,
): Promise<Advance> {
  const id = { projectId: key.projectId, id: key.buildId };
  const outcome = await table.write([
    Build.update(
      id,
      { set: { ...set, status: to, updatedAt: now.toISOString() }, remove: ["uploadToken"] },
      { status: from, canceledAt: absent },
    ),
    Lock.update(
      { projectId: key.projectId },
      { set: { status: to, leaseUntil: leaseUntil(now) } },
      { buildId: key.buildId },
    ),
  ]);
  if (outcome.ok) return { won: true };
  const [item] = outcome.failed.has(0) ? [outcome.failed.get(0)] : await table.get([Build.key(id)]);
  return { won: false, build: Build.maybe(item) };
}

/** The build ends as `ready`, is live, and frees the project: one transaction (DESIGN §5). */
export async function endReady(
  table: Table,
  key: BuildKey,
  ready: { warning: string | null; appLog: string | null; successes: readonly string[] },
  now: Date,
): Promise<boolean> {
  const project = { projectId: key.projectId };
  const id = { ...project, id: key.buildId };
  const { warning, appLog, successes } = ready;
  const outcome = await table.write([
    Build.update(
      id,
      { set: { status: "ready", warning, updatedAt: now.toISOString(), ...(appLog && { appLog }) } },
      { status: "deploying", canceledAt: absent },
    ),
    Lock.delete(project, { buildId: key.buildId }),
    LiveBuildCache.put(project, { buildId: key.buildId, readAt: now.toISOString() }),
    RedeployableBuilds.put(project, { buildIds: withSuccess(successes, key.buildId) }),
  ]);
  if (outcome.ok) return true;
  const [again] = await table.get([Build.key(id)]);
  return Build.maybe(again)?.status === "ready";
}

/**
 * The build ends as `error` and frees the project. A canceled build has freed it before and only takes the status
 * ("would have failed anyway", SPEC §3 rule 1). Nothing happens to a build that has ended.
 */
export async function endError(
  table: Table,
  key: BuildKey,
  error: string,
  now: Date,
  live?: { buildId: string | null },
): Promise<void> {
  const project = { projectId: key.projectId };
  const id = { ...project, id: key.buildId };
  const end = Build.update(
    id,
    { set: { status: "error", error, updatedAt: now.toISOString() }, remove: ["uploadToken"] },
    { status: oneOf(...unfinishedStatuses) },
  );
  const release = Lock.delete(project, { buildId: key.buildId });
  const seen = live ? [LiveBuildCache.put(project, { buildId: live.buildId, readAt: now.toISOString() })] : [];
  const outcome = await table.write([end, release, ...seen]);
  if (outcome.ok) return;
  if (!outcome.failed.has(0)) await table.write([end]);
  else await table.write([release]);
}
