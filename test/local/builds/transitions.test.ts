import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Build, type BuildRow, LiveBuildCache, Lock, RedeployableBuilds } from "../../../lambdas/builds/model/rows.ts";
import {
  advance,
  type BuildKey,
  endError,
  endReady,
  leaseUntil,
  newBuild,
} from "../../../lambdas/builds/model/transitions.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { startTable } from "../../harness/table.ts";

const made = new Date("2026-11-20T01:00:00.000Z");
const now = new Date("2026-11-20T01:02:03.456Z");
const at = now.toISOString();
const minute = 60_000;
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds).toISOString();

let started: Awaited<ReturnType<typeof startTable>>;
let table: typeof started.table;
beforeAll(async () => {
  started = await startTable();
  table = started.table;
});
afterAll(() => started.close());

const newKey = (): BuildKey => ({
  organizationId: newId("org", made),
  projectId: newId("prj", made),
  buildId: newId("bld", made),
});
const placeOf = ({ projectId, buildId }: BuildKey) => ({ projectId, id: buildId });

const writesOf = ({ organizationId, projectId, buildId }: BuildKey) =>
  newBuild(
    { id: buildId, organizationId, projectId, title: "One", description: null, source: { kind: "upload" } },
    made,
  );

/** A stored build that holds its project's lock, changed as given. */
async function stored(change: Partial<BuildRow> = {}): Promise<BuildKey> {
  const key = newKey();
  expect(await table.write(writesOf(key).writes)).toEqual({ ok: true });
  expect(await table.write({ build: Build.update(placeOf(key), { set: change }) })).toEqual({ ok: true });
  return key;
}

/** The rows of a build and of its project. */
const rowsOf = (key: BuildKey) =>
  table.read({
    build: Build.at(placeOf(key)),
    lock: Lock.at(key),
    live: LiveBuildCache.at(key),
    redeployable: RedeployableBuilds.at(key),
  });

/** The project is locked by another build now, as after a cancel and a new build. */
async function lockedByAnother(key: BuildKey): Promise<string> {
  const other = newId("bld", now);
  await table.write({ lock: Lock.update(key, { set: { buildId: other } }) });
  return other;
}

test("a lease is good for a quarter of an hour, unless another time is given", () => {
  expect(leaseUntil(now)).toBe(later(15 * minute));
  expect(leaseUntil(now, 60)).toBe(later(minute));
});

describe("a new build", () => {
  test("is pending, and holds the project's lock for a minute until its execution runs", async () => {
    const key = await stored();
    const { build, lock } = await rowsOf(key);
    const { organizationId, projectId, buildId } = key;
    const instant = made.toISOString();
    expect(build).toEqual({
      id: buildId,
      organizationId,
      projectId,
      title: "One",
      description: null,
      source: { kind: "upload" },
      status: "pending",
      runtime: null,
      size: null,
      error: null,
      suggestion: null,
      warning: null,
      findings: [],
      createdAt: instant,
      updatedAt: instant,
    });
    expect(lock).toEqual({
      organizationId,
      projectId,
      buildId,
      status: "pending",
      source: "upload",
      createdAt: instant,
      leaseUntil: "2026-11-20T01:01:00.000Z",
      lockShard: "LOCK",
    });
    expect(writesOf(key).row).toEqual(build);
    expect((await table.expiredLocks(Lock, "2026-11-20T01:01:00.001Z", 100)).map((one) => one.buildId)).toContain(
      buildId,
    );
  });

  test("is not created while another build holds the project's lock, and does not replace a build with its id", async () => {
    const first = await stored();
    const second = { ...first, buildId: newId("bld", now) };
    const refused = await table.write(writesOf(second).writes);
    expect(refused).toMatchObject({ ok: false, failed: { lock: { old: { buildId: first.buildId } } } });
    expect((await rowsOf(second)).build).toBeUndefined();
    await table.write({ lock: Lock.delete(first) });
    expect(await table.write(writesOf(first).writes)).toMatchObject({ ok: false, failed: { build: {} } });
    expect((await rowsOf(first)).lock).toBeUndefined();
  });
});

describe("a stage boundary", () => {
  const toBuilding = (key: BuildKey) => advance(table, key, "analyzing", "building", { runtime: "nodejs24.x" }, now);

  test("moves the build and its lock together, and forgets the upload's token", async () => {
    const key = await stored({ status: "analyzing", uploadToken: "token", suggestion: "kept" });
    expect(await toBuilding(key)).toEqual({ won: true });
    const { build, lock } = await rowsOf(key);
    expect(build).toMatchObject({ status: "building", runtime: "nodejs24.x", suggestion: "kept", updatedAt: at });
    expect(build).not.toHaveProperty("uploadToken");
    expect(lock).toMatchObject({ buildId: key.buildId, status: "building", leaseUntil: later(15 * minute) });
  });

  test.each<[string, Partial<BuildRow>]>([
    ["that was canceled", { status: "analyzing", canceledAt: at }],
    ["in another state", { status: "building" }],
    ["that has ended", { status: "error", error: "It failed." }],
  ])("is lost by a build %s, and tells how the build stands", async (_, change) => {
    const key = await stored(change);
    expect(await toBuilding(key)).toMatchObject({ won: false, build: { id: key.buildId, ...change } });
    expect((await rowsOf(key)).build).toMatchObject(change);
    expect((await rowsOf(key)).lock).toMatchObject({ status: "pending" });
  });

  test("fails for a build that no longer holds the project's lock", async () => {
    const key = await stored({ status: "analyzing" });
    const other = await lockedByAnother(key);
    expect(await toBuilding(key)).toMatchObject({ won: false, build: { id: key.buildId, status: "analyzing" } });
    expect((await rowsOf(key)).lock).toMatchObject({ buildId: other, status: "pending" });
  });

  test("fails for a build that does not exist", async () => {
    expect(await toBuilding(newKey())).toEqual({ won: false, build: undefined });
  });
});

describe("the end as ready", () => {
  const end = (key: BuildKey, more: { warning?: string; appLog?: string; successes?: string[] } = {}) =>
    endReady(table, key, { warning: null, appLog: null, successes: [], ...more }, now);

  test("makes the build live and releases the project's lock, in one transaction", async () => {
    const key = await stored({ status: "deploying", warning: "before" });
    const older = newId("bld", new Date(0));
    expect(await end(key, { warning: "GET / answers 404", appLog: "log/1", successes: [older] })).toBe(true);
    const { build, lock, live, redeployable } = await rowsOf(key);
    expect(build).toMatchObject({ status: "ready", warning: "GET / answers 404", appLog: "log/1", updatedAt: at });
    expect(lock).toBeUndefined();
    expect(live).toEqual({ buildId: key.buildId, readAt: at });
    expect(redeployable).toEqual({ buildIds: [key.buildId, older] });
    // A repeated step finds what it has done.
    expect(await end(key, { warning: "another" })).toBe(true);
    expect((await rowsOf(key)).build).toMatchObject({ warning: "GET / answers 404" });
  });

  test("keeps the log that is known", async () => {
    const key = await stored({ status: "deploying", appLog: "log/1" });
    await end(key);
    expect((await rowsOf(key)).build).toMatchObject({ appLog: "log/1", warning: null });
  });

  test.each<[string, Partial<BuildRow>]>([
    ["not deploying", { status: "building" }],
    ["canceled", { status: "deploying", canceledAt: at }],
    ["ended as error", { status: "error", error: "It failed." }],
  ])("is refused to a build that is %s: nothing changes", async (_, change) => {
    const key = await stored(change);
    const before = await rowsOf(key);
    expect(await end(key)).toBe(false);
    expect(await rowsOf(key)).toEqual(before);
  });

  test("is refused for a build that no longer holds the project's lock, and for one that does not exist", async () => {
    const key = await stored({ status: "deploying" });
    const other = await lockedByAnother(key);
    expect(await end(key)).toBe(false);
    expect(await rowsOf(key)).toMatchObject({ build: { status: "deploying" }, lock: { buildId: other } });
    expect(await end(newKey())).toBe(false);
  });
});

describe("the end as error", () => {
  const end = (key: BuildKey, live?: { buildId: string | null }) => endError(table, key, "It failed.", now, live);
  const failed = { status: "error", error: "It failed.", updatedAt: at };

  test.each(["pending", "analyzing", "building", "deploying"] as const)(
    "of a build that is %s frees the project",
    async (status) => {
      const key = await stored({ status, uploadToken: "token" });
      await end(key);
      const { build, lock, live } = await rowsOf(key);
      expect(build).toMatchObject(failed);
      expect(build).not.toHaveProperty("uploadToken");
      expect(lock).toBeUndefined();
      expect(live).toBeUndefined();
    },
  );

  test.each([null, "bld_before"])("records what serves again: %s", async (buildId) => {
    const key = await stored({ status: "deploying" });
    await end(key, { buildId });
    expect((await rowsOf(key)).live).toEqual({ buildId, readAt: at });
  });

  test("of a canceled build, whose project another build holds, changes its status only", async () => {
    const key = await stored({ status: "building", canceledAt: at });
    const other = await lockedByAnother(key);
    await end(key);
    expect(await rowsOf(key)).toMatchObject({ build: { ...failed, canceledAt: at }, lock: { buildId: other } });
  });

  test.each(["ready", "error"] as const)(
    "changes no build that is %s, and frees the project from it",
    async (status) => {
      const key = await stored({ status, error: null });
      await end(key);
      expect(await rowsOf(key)).toMatchObject({ build: { status, error: null }, lock: undefined });
    },
  );

  test("of a build that has ended and no longer holds the project's lock changes nothing", async () => {
    const key = await stored({ status: "ready" });
    const other = await lockedByAnother(key);
    await end(key);
    expect(await rowsOf(key)).toMatchObject({ build: { status: "ready" }, lock: { buildId: other } });
  });
});
