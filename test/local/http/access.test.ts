import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { tokenAccesses } from "../../../api/route.ts";
import { Build, Lock } from "../../../lambdas/builds/model/rows.ts";
import { newBuild } from "../../../lambdas/builds/model/transitions.ts";
import { type AccessRequest, accessFor } from "../../../lambdas/http/access.ts";
import { Replay } from "../../../lambdas/http/idempotency.ts";
import { recordUse } from "../../../lambdas/http/key-use.ts";
import { AccessKey, Membership, ProjectKeys, Session, Token } from "../../../lambdas/http/model/credentials.ts";
import { Event } from "../../../lambdas/http/model/event.ts";
import { IdempotencyRecord } from "../../../lambdas/http/model/idempotency-record.ts";
import { Project } from "../../../lambdas/http/model/project.ts";
import type { PresentedCredential } from "../../../lambdas/http/presented-credential.ts";
import { notFound, Problem, unavailable } from "../../../lambdas/http/problem.ts";
import { absent, type Item } from "../../../lambdas/table/entity.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { startTable } from "../../harness/table.ts";

const now = new Date("2026-11-20T01:02:03.456Z");
const at = now.toISOString();
const minute = "2026-11-20T01:02:00.000Z";

let started: Awaited<ReturnType<typeof startTable>>;
let table: typeof started.table;
beforeAll(async () => {
  started = await startTable();
  table = started.table;
});
afterAll(() => started.close());

/** An organization with a project, and a good credential of each kind. */
async function organization() {
  const [orgId, projectId, userId, tokenId] = (["org", "prj", "usr", "tok"] as const).map((kind) =>
    newId(kind, now),
  ) as [string, string, string, string];
  const access = `slk_${newId("req", now)}`;
  const sessionId = newId("req", now);
  const held = { id: 1, access, description: "", createdAt: at };
  const key = { access, hash: "key", organizationId: orgId, projectId, credentialId: 1, manual: true };
  const session = { organizationId: orgId, hash: "session", expiresAt: "2026-11-20T02:00:00.000Z", ttl: 1 };
  const token = { id: tokenId, userId, hash: "token", description: "", createdAt: at };
  await table.write({
    project: Project.put(
      { id: projectId },
      { id: projectId, organizationId: orgId, name: "App", secret: "x", createdAt: at },
    ),
    key: AccessKey.put({ access }, { ...key, description: "", createdAt: at }),
    keys: ProjectKeys.put({ projectId }, { lastId: 1, held: 1, key_1: held }),
    session: Session.put({ id: sessionId }, session),
    token: Token.put({ userId, id: tokenId }, token),
    membership: Membership.put(
      { userId, organizationId: orgId },
      { userId, organizationId: orgId, organizationName: "One", role: "member" },
    ),
  });
  const credentials = {
    key: { kind: "key", access, organizationId: orgId, hash: "key" },
    session: { kind: "session", sessionId, organizationId: orgId, origin: { access }, hash: "session" },
    token: { kind: "token", userId, tokenId, hash: "token" },
  } satisfies Record<string, PresentedCredential>;
  return { orgId, projectId, userId, tokenId, access, sessionId, credentials };
}
type Organization = Awaited<ReturnType<typeof organization>>;

const openRule = {
  usersOnly: false,
  consoleOnly: false,
  ownToken: false,
  tokens: tokenAccesses,
  role: "member",
  orSelf: false,
  managed: false,
} as const;
const tools = () => ({ reader: table, writer: table, keyUses: table, events: table });
const accessOf = (
  { orgId, projectId }: Organization,
  credential: PresentedCredential,
  more: Partial<AccessRequest> = {},
) => accessFor({ credential, now, orgId, projectId, rule: openRule, ...more }, tools());

/** The writes of a new build of the project. */
const buildOf = ({ orgId, projectId }: Organization, projectOfBuild = projectId) => {
  const id = newId("bld", now);
  const { writes } = newBuild(
    {
      id,
      projectId: projectOfBuild,
      organizationId: orgId,
      title: null,
      description: null,
      source: { kind: "upload" },
    },
    now,
  );
  return { id, writes };
};
const codeOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error !== undefined && !(error instanceof Problem)) throw error;
  return error?.code;
};
const lockOf = async ({ projectId }: Organization) => (await table.read({ lock: Lock.at({ projectId }) })).lock;

describe.each(["key", "session", "token"] as const)("a %s", (kind) => {
  test("reads and writes in its organization's project", async () => {
    const own = await organization();
    const access = accessOf(own, own.credentials[kind]);
    expect(access.proved()).toBe(false);
    const { id, writes } = buildOf(own);
    expect(await access.commit(writes)).toEqual({ ok: true });
    expect(access.proved()).toBe(true);
    const reading = accessOf(own, own.credentials[kind]);
    const { build } = await reading.read({ build: Build.at({ projectId: own.projectId, id }) });
    expect(build?.id).toBe(id);
    expect(reading.proved()).toBe(true);
    expect(reading.caller().kind).toBe(kind === "token" ? "user" : "organization");
  });

  test.each(["read", "commit"] as const)("with another secret is a 401 by %s, and writes nothing", async (way) => {
    const own = await organization();
    const access = accessOf(own, { ...own.credentials[kind], hash: "wrong" });
    const work = way === "read" ? access.read() : access.commit(buildOf(own).writes);
    expect(await codeOf(work)).toBe("unauthorized");
    expect(access.proved()).toBe(false);
    expect(await lockOf(own)).toBeUndefined();
  });

  test.each(["read", "commit"] as const)(
    "finds another organization's project missing by %s, and writes nothing",
    async (way) => {
      const [own, other] = [await organization(), await organization()];
      for (const path of [other, { ...own, projectId: other.projectId }, { ...own, projectId: newId("prj", now) }]) {
        const access = accessOf(path, own.credentials[kind]);
        const work = way === "read" ? access.read() : access.commit(buildOf(path).writes);
        expect(await codeOf(work)).toBe("not_found");
      }
      expect(await lockOf(other)).toBeUndefined();
    },
  );
});

test("for a path without an existing organization or project a read distinguishes 401 from 404", async () => {
  const own = await organization();
  for (const path of [
    { ...own, orgId: "org_x" },
    { ...own, projectId: "prj_x" },
  ]) {
    const { writes } = buildOf(own, own.projectId);
    expect(await codeOf(accessOf(path, own.credentials.token).commit(writes))).toBe("not_found");
    const wrong = { ...own.credentials.token, hash: "wrong" };
    expect(await codeOf(accessOf(path, wrong).commit(writes))).toBe("unauthorized");
  }
  expect(await lockOf(own)).toBeUndefined();
});

test("a row that must exist is a 404 before the 403 and after the 401, also if it is another organization's", async () => {
  const [own, other] = [await organization(), await organization()];
  const rule = { ...openRule, usersOnly: true };
  const read = (credential: PresentedCredential, exists: NonNullable<AccessRequest["exists"]>) =>
    codeOf(accessOf(own, credential, { rule, exists }).read());
  const missing = { build: Build.at({ projectId: own.projectId, id: newId("bld", now) }) };
  const foreign = { project: Project.at({ id: other.projectId }) };
  const present = {
    none: undefined,
    project: Project.at({ id: own.projectId }),
    keys: ProjectKeys.at({ projectId: own.projectId }),
  };
  for (const exists of [missing, foreign, { ...present, ...missing }]) {
    expect(await read(own.credentials.key, exists)).toBe("not_found");
    expect(await read({ ...own.credentials.key, hash: "wrong" }, exists)).toBe("unauthorized");
    expect(await read(own.credentials.token, exists)).toBe("not_found");
  }
  expect(await read(own.credentials.key, present)).toBe("users_only");
  expect(await read(own.credentials.token, present)).toBeUndefined();
});

test("a caller that a read has proved may write, unless the project was deleted in the meantime", async () => {
  const own = await organization();
  const access = accessOf(own, own.credentials.key);
  await access.read();
  await table.write({ key: AccessKey.delete({ access: own.access }) });
  expect(await access.commit(buildOf(own).writes)).toEqual({ ok: true });
  await table.write({ project: Project.delete({ id: own.projectId }), lock: Lock.delete(own) });
  expect(await codeOf(access.commit(buildOf(own).writes))).toBe("not_found");
  expect(await lockOf(own)).toBeUndefined();
});

test("a write of a row that proves the caller is one action with the proof of the others", async () => {
  const own = await organization();
  const writes = {
    project: Project.update({ id: own.projectId }, { set: { name: "New" } }),
  };
  expect(await accessOf(own, own.credentials.key).commit(writes)).toEqual({ ok: true });
  expect(await codeOf(accessOf(own, { ...own.credentials.key, hash: "wrong" }).commit(writes))).toBe("unauthorized");
});

test("a write whose own condition fails tells which, and nothing of the proof", async () => {
  const own = await organization();
  const first = buildOf(own);
  await accessOf(own, own.credentials.key).commit(first.writes);
  const access = accessOf(own, own.credentials.key);
  const outcome = await access.commit(buildOf(own).writes);
  expect(outcome).toMatchObject({ ok: false, failed: { lock: { old: { buildId: first.id } } } });
  expect(Object.keys(outcome.ok ? {} : outcome.failed)).toEqual(["lock"]);
  expect(access.proved()).toBe(true);
});

test("only a route that writes gets a writer, and the caller is known after a read only", async () => {
  const own = await organization();
  const { orgId, credentials } = own;
  const access = accessFor(
    { credential: credentials.key, now, orgId, rule: openRule },
    { reader: table, keyUses: table },
  );
  await expect(access.commit({})).rejects.toThrow("The route does not declare table:write");
  expect(() => access.caller()).toThrow("The caller is known after a read");
});

describe("an Idempotency-Key", () => {
  const keyOf = (bodyHash = "body") => ({ hash: newId("req", now), bodyHash });
  const replayed = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof Replay ? { replay: error.reply } : error;
  };

  test("stores the answer with the write, and replays it to a write and to a read", async () => {
    const own = await organization();
    const idempotencyKey = keyOf();
    const send = (key = idempotencyKey) => accessOf(own, own.credentials.key, { idempotencyKey: key });
    expect(send().idempotencyKey).toBe(idempotencyKey);
    expect(await send().commit(buildOf(own).writes, { build: 1 })).toEqual({ ok: true });
    expect(await replayed(send().commit(buildOf(own).writes, { build: 2 }))).toEqual({ replay: { build: 1 } });
    expect(await replayed(send().read())).toEqual({ replay: { build: 1 } });
    const other = { ...idempotencyKey, bodyHash: "other" };
    expect(await replayed(send(other).read())).toMatchObject({ code: "idempotency_mismatch" });
    const wrong = accessOf(own, { ...own.credentials.key, hash: "wrong" }, { idempotencyKey });
    expect(await replayed(wrong.read())).toMatchObject({ code: "unauthorized" });
  });

  test("stores nothing without an answer to remember, nor with a write that fails", async () => {
    const own = await organization();
    const record = async (hash: string) => (await table.read({ record: IdempotencyRecord.at({ hash }) })).record;
    const [silent, failing] = [keyOf(), keyOf()];
    await accessOf(own, own.credentials.key, { idempotencyKey: silent }).commit(buildOf(own).writes);
    expect(await record(silent.hash)).toBeUndefined();
    const outcome = await accessOf(own, own.credentials.key, { idempotencyKey: failing }).commit(buildOf(own).writes, {
      build: 1,
    });
    expect(outcome).toMatchObject({ ok: false, failed: { lock: {} } });
    expect(await record(failing.hash)).toBeUndefined();
    await accessOf(own, own.credentials.key).commit({ lock: Lock.delete(own) }, { build: 1 });
  });
});

describe("the event of a change", () => {
  const ids = { one: "id" };
  const change = { action: "create-build", ids };
  /** Access with calls of the table that a test can count, and that fail from the call of an event's update that `failFrom` names. */
  async function counted({ failFrom = Number.POSITIVE_INFINITY, isRecorded = true } = {}) {
    const own = await organization();
    const update = vi.fn((async (one) => {
      if (update.mock.calls.length >= failFrom) throw new Error("The table does not answer");
      return table.update(one);
    }) as typeof table.update);
    const read = vi.fn(table.read);
    const access = accessFor(
      {
        credential: own.credentials.key,
        now,
        orgId: own.orgId,
        projectId: own.projectId,
        rule: openRule,
        ...(isRecorded && { change }),
      },
      {
        reader: { ...table, read: read as typeof table.read },
        writer: table,
        keyUses: table,
        events: { ...table, update: update as typeof table.update },
      },
    );
    const events = async () =>
      (await table.list(Event.list({ ownerId: own.orgId }, { limit: 9, newestFirst: true }))).rows;
    // Sorted, because events of one millisecond are in no order.
    const outcomes = async () => (await events()).map(({ outcome }) => outcome).toSorted();
    return { own, access, update, read, events, outcomes };
  }
  /** So many writes of a transaction, and one more that is left out. */
  const many = (count: number) => ({
    none: undefined,
    ...Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `${n}`,
        IdempotencyRecord.put(
          { hash: newId("req", now) },
          { bodyHash: "", reply: "", expiresAt: at, ttl: 1 },
          { pk: absent },
        ),
      ]),
    ),
  });

  test("is written with the change in one round trip, and names what the change made", async () => {
    const { own, access, update, read, events } = await counted();
    expect(await access.commit(buildOf(own).writes, undefined, { build: { id: "bld_1" } })).toEqual({ ok: true });
    expect([read.mock.calls.length, update.mock.calls.length]).toEqual([0, 0]);
    expect(await events()).toMatchObject([
      { action: "create-build", actor: { kind: "key", access: own.access }, ids: { one: "id", buildId: "bld_1" } },
    ]);
    expect((await events())[0]?.outcome).toBe("done");
  });

  test("is not written where nothing was changed, nor for a route without events", async () => {
    const { own, access, outcomes } = await counted();
    await access.commit({});
    await access.commit({ none: undefined });
    const first = buildOf(own);
    await accessOf(own, own.credentials.key).commit(first.writes);
    expect(await access.commit(buildOf(own).writes)).toMatchObject({ ok: false });
    expect(await outcomes()).toEqual([]);
    const silent = await counted({ isRecorded: false });
    await silent.access.read();
    expect(await silent.access.commit(many(99))).toEqual({ ok: true });
    expect([await silent.outcomes(), silent.update.mock.calls.length]).toEqual([[], 0]);
  });

  test("is part of a transaction that has room for it, and else recorded before it and completed after", async () => {
    const { access, update, outcomes } = await counted();
    await access.read();
    expect(await access.commit(many(98))).toEqual({ ok: true });
    expect([await outcomes(), update.mock.calls.length]).toEqual([["done"], 0]);
    const full = many(99);
    expect(await access.commit(full)).toEqual({ ok: true });
    expect([await outcomes(), update.mock.calls.length]).toEqual([["done", "done"], 2]);
    expect(await access.commit(full)).toMatchObject({ ok: false });
    expect(await outcomes()).toEqual(["done", "done", "refused"]);
  });

  test("says that the outcome is unknown if it cannot be completed; the change was made", async () => {
    const { access, outcomes } = await counted({ failFrom: 2 });
    await access.read();
    expect(await access.commit(many(99))).toEqual({ ok: true });
    expect(await outcomes()).toEqual(["unknown"]);
    const { access: other, update, outcomes: ofOther } = await counted({ failFrom: 2 });
    await other.read();
    expect(await other.around(async () => "made")).toBe("made");
    expect([await ofOther(), update.mock.calls.length]).toEqual([["unknown"], 2]);
  });

  test("of other work is recorded before it, completed after it, and the only one of its writes", async () => {
    const { own, access, events, outcomes } = await counted();
    await access.read();
    const made = await access.around(
      async () => {
        expect(await events()).toMatchObject([
          { action: "create-build", ids: { one: "id", two: "id" }, outcome: "unknown" },
        ]);
        expect(await access.commit(buildOf(own).writes)).toEqual({ ok: true });
        return "made";
      },
      { two: "id" },
    );
    expect(made).toBe("made");
    expect(await outcomes()).toEqual(["done"]);
    expect(await access.commit({ lock: Lock.delete(own) })).toEqual({ ok: true });
    expect(await outcomes()).toEqual(["done", "done"]);
  });

  test.each([
    ["refused", "is refused", notFound()],
    ["unknown", "fails", unavailable()],
    ["unknown", "fails in the service", new Problem("internal", "The service failed.")],
    ["unknown", "is interrupted", new Error("interrupted")],
  ])("of other work is %s if the work %s, and the next change has its own", async (outcome, _, error) => {
    const { own, access, outcomes } = await counted();
    await access.read();
    await expect(access.around(() => Promise.reject(error))).rejects.toBe(error);
    expect(await outcomes()).toEqual([outcome]);
    await access.commit(buildOf(own).writes);
    expect(await outcomes()).toEqual(["done", outcome]);
  });

  test("of work that was taken back is refused, and the project must still be there", async () => {
    const { own, access, outcomes } = await counted();
    const lock = { lock: Lock.delete(own) };
    const replay = new Replay("the first answer");
    const work = async () => {
      await access.commit(buildOf(own).writes);
      await access.undo(lock);
      throw replay;
    };
    await access.read();
    await expect(access.around(work)).rejects.toBe(replay);
    expect([await lockOf(own), await outcomes()]).toEqual([undefined, ["refused"]]);
    await access.commit(buildOf(own).writes);
    await table.write({ project: Project.delete({ id: own.projectId }) });
    await access.undo(lock);
    expect(await lockOf(own)).toBeDefined();
  });

  test("of other work needs a route that declares it, and a caller who is proved", async () => {
    const { access, outcomes } = await counted();
    const work = vi.fn(async () => "made");
    await expect(access.around(work)).rejects.toThrow("declares no event, or its caller is not proved");
    const { access: silent } = await counted({ isRecorded: false });
    await silent.read();
    await expect(silent.around(work)).rejects.toThrow("declares no event, or its caller is not proved");
    expect(work).not.toHaveBeenCalled();
    expect(await outcomes()).toEqual([]);
  });
});

describe("the use of a credential", () => {
  const later = "2026-11-20T01:05:00.000Z";
  const usesOf = async ({ access, userId, tokenId, projectId }: Organization) => {
    const { key, token, keys } = await table.read({
      key: AccessKey.at({ access }),
      token: Token.at({ userId, id: tokenId }),
      keys: ProjectKeys.at({ projectId }),
    });
    return { key: key?.lastUsedAt, token: token?.lastUsedAt, listed: keys?.keys[0]?.lastUsedAt };
  };
  const none = { key: undefined, token: undefined, listed: undefined };
  const use = (own: Organization, kind: "key" | "token" | "session", when = now) =>
    accessOf(own, own.credentials[kind], { now: when }).read();

  test("is recorded to the minute: of an app key in the project's list too, of a token alone", async () => {
    const own = await organization();
    await use(own, "key");
    await expect.poll(() => usesOf(own)).toEqual({ ...none, key: minute, listed: minute });
    await use(own, "token");
    await expect.poll(() => usesOf(own)).toEqual({ key: minute, listed: minute, token: minute });
    await use(own, "key", new Date(later));
    await expect.poll(() => usesOf(own)).toEqual({ key: later, listed: later, token: minute });
  });

  test("is recorded by a write too", async () => {
    const own = await organization();
    await accessOf(own, own.credentials.token).commit(buildOf(own).writes);
    await expect.poll(() => usesOf(own)).toEqual({ ...none, token: minute });
  });

  test("moves forward only, is recorded once a minute, and not for a bad credential", async () => {
    const own = await organization();
    const updated = vi.fn(table.updateBestEffort);
    const counting = { ...tools(), keyUses: { ...table, updateBestEffort: updated as typeof table.updateBestEffort } };
    const read = (when: Date, hash = "token") =>
      accessFor(
        { credential: { ...own.credentials.token, hash }, now: when, orgId: own.orgId, rule: openRule },
        counting,
      ).read();
    await expect(read(now, "wrong")).rejects.toThrow();
    expect(updated).not.toHaveBeenCalled();
    await read(new Date(later));
    await read(new Date(Date.parse(later) + 59_999));
    expect(updated).toHaveBeenCalledTimes(1);
    await expect.poll(() => usesOf(own)).toEqual({ ...none, token: later });
    // Another instance of the function may record an earlier minute afterwards.
    await read(now);
    expect(updated).toHaveBeenCalledTimes(2);
    await Promise.allSettled(updated.mock.results.map(({ value }) => value as Promise<Item>));
    expect(await usesOf(own)).toEqual({ ...none, token: later });
  });

  test("moves forward only in the project's list too", async () => {
    const own = await organization();
    await use(own, "key");
    await expect.poll(() => usesOf(own)).toEqual({ ...none, key: minute, listed: minute });
    // Another instance records a later minute between the two updates of this one.
    const recorded = vi.fn(async (...args: Parameters<typeof table.updateBestEffort>) => {
      const row = await table.updateBestEffort(...args);
      if (recorded.mock.calls.length === 1) {
        const entry = `key_${(row as { credentialId: string }).credentialId}`;
        const set = { [`${entry}.lastUsedAt`]: "2026-11-20T02:00:00.000Z" };
        await table.update(ProjectKeys.update({ projectId: own.projectId }, { set }));
      }
      return row;
    });
    const keyUses = { ...table, updateBestEffort: recorded as typeof table.updateBestEffort };
    const call = { credential: own.credentials.key, now: new Date(later), orgId: own.orgId, rule: openRule };
    await accessFor(call, { ...tools(), keyUses }).read();
    await expect.poll(() => recorded.mock.calls.length).toBe(2);
    await Promise.allSettled(recorded.mock.results.map(({ value }) => value as Promise<Item>));
    expect(await usesOf(own)).toMatchObject({ key: later, listed: "2026-11-20T02:00:00.000Z" });
  });

  test("is remembered for each of 10,000 names, so that the memory of a function is bounded", async () => {
    const own = await organization();
    const updateBestEffort = vi.fn(async () => undefined);
    const keyUses = { ...table, updateBestEffort };
    const uses = (tokenId: string) => recordUse(keyUses, { ...own.credentials.token, tokenId }, new Date(later));
    const { tokenId } = own;
    for (const name of [tokenId, `${tokenId}b`, tokenId, `${tokenId}b`]) uses(name);
    expect(updateBestEffort).toHaveBeenCalledTimes(2);
    for (let n = 0; n < 10_001; n += 1) uses(`${tokenId} ${n}`);
    expect(updateBestEffort).toHaveBeenCalledTimes(10_003);
    uses(tokenId);
    expect(updateBestEffort).toHaveBeenCalledTimes(10_004);
  });

  test("of a session is not recorded, nor that of a key which a new one has replaced", async () => {
    const own = await organization();
    await use(own, "session");
    const updateBestEffort = vi.fn(async () => undefined);
    const ofConsole = { ...own.credentials.token, kind: "console", sessionId: "id", bearerId: "id" } as const;
    for (const credential of [own.credentials.session, ofConsole]) {
      recordUse({ ...table, updateBestEffort }, credential, now);
    }
    expect(updateBestEffort).not.toHaveBeenCalled();
    await table.write({
      key: AccessKey.update({ access: own.access }, { set: { hash: "new" } }, { pk: { is: "present" } }),
    });
    await accessOf(own, own.credentials.key)
      .read()
      .catch(() => undefined);
    expect(await usesOf(own)).toEqual(none);
  });

  test("of the operator's key is not written into the project's list", async () => {
    const own = await organization();
    await table.write({ key: AccessKey.update({ access: own.access }, { set: { manual: false } }) });
    await use(own, "key");
    await expect.poll(() => usesOf(own)).toEqual({ ...none, key: minute });
    expect((await usesOf(own)).listed).toBeUndefined();
  });

  test("brings no deleted key back into the project's list", async () => {
    const own = await organization();
    await table.write({ keys: ProjectKeys.update(own, { remove: ["key_1"], add: { held: -1 } }) });
    await use(own, "key");
    await expect.poll(() => usesOf(own)).toEqual({ ...none, key: minute });
    expect((await table.read({ keys: ProjectKeys.at(own) })).keys?.keys).toEqual([]);
  });
});
