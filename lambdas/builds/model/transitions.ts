import type { BuildStatus } from "../../../api/build.ts";
import { absent, oneOf, type Put } from "../../table/entity.ts";
import type { TableReader } from "../../table/reader.ts";
import type { TableWriter } from "../../table/writer.ts";
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

/** How long a lock is trusted before reconcile-locks checks that its execution runs. */
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

export interface BuildWrites {
  lock: Put<LockRow>;
  build: Put<BuildRow>;
  [name: string]: Put<unknown>;
}

/** A new build and its project's lock: both or neither, so that one build of a project runs at a time. */
export function newBuild(build: NewBuild, now: Date): { row: BuildRow; writes: BuildWrites } {
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
  const { projectId, id } = build;
  return {
    row,
    writes: {
      lock: Lock.put({ projectId }, lock, { pk: absent }),
      build: Build.put({ projectId, id }, row, { pk: absent }),
    },
  };
}

export type Advance = { won: true } | { won: false; build: BuildRow | undefined };

/**
 * A stage boundary: one conditional write of the build and its lock. It fails if the build was canceled or has ended, or
 * if another build holds the lock; the returned build shows which.
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
  const outcome = await table.write({
    build: Build.update(
      id,
      { set: { ...set, status: to, updatedAt: now.toISOString() }, remove: ["uploadToken"] },
      { status: from, canceledAt: absent },
    ),
    lock: Lock.update(
      { projectId: key.projectId },
      { set: { status: to, leaseUntil: leaseUntil(now) } },
      { buildId: key.buildId },
    ),
  });
  if (outcome.ok) return { won: true };
  const { failed } = outcome;
  const build = failed.build ? failed.build.old : (await table.read({ build: Build.at(id) })).build;
  return { won: false, build };
}

/** The build ends as `ready`, is live, and releases the project's lock: one transaction (docs/data-model.md, Rules between rows). */
export async function endReady(
  table: Table,
  key: BuildKey,
  ready: { warning: string | null; appLog: string | null; successes: readonly string[] },
  now: Date,
): Promise<boolean> {
  const project = { projectId: key.projectId };
  const id = { ...project, id: key.buildId };
  const { warning, appLog, successes } = ready;
  const outcome = await table.write({
    build: Build.update(
      id,
      { set: { status: "ready", warning, updatedAt: now.toISOString(), ...(appLog && { appLog }) } },
      { status: "deploying", canceledAt: absent },
    ),
    lock: Lock.delete(project, { buildId: key.buildId }),
    live: LiveBuildCache.put(project, { buildId: key.buildId, readAt: now.toISOString() }),
    redeployable: RedeployableBuilds.put(project, { buildIds: withSuccess(successes, key.buildId) }),
  });
  if (outcome.ok) return true;
  const { build } = await table.read({ build: Build.at(id) });
  return build?.status === "ready";
}

/**
 * The build ends as `error` and releases the project's lock. A canceled build has released it before and only gets the status
 * ("would have failed anyway", docs/api.md, Build states). Nothing happens to a build that has ended.
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
  const build = Build.update(
    id,
    { set: { status: "error", error, updatedAt: now.toISOString() }, remove: ["uploadToken"] },
    { status: oneOf(...unfinishedStatuses) },
  );
  const lock = Lock.delete(project, { buildId: key.buildId });
  const seen = live && LiveBuildCache.put(project, { buildId: live.buildId, readAt: now.toISOString() });
  const outcome = await table.write({ build, lock, live: seen });
  if (outcome.ok) return;
  await table.write(outcome.failed.build ? { lock } : { build });
}
