import { describe, expect, test } from "vitest";
import { routes } from "../../../../api/index.ts";
import type { Route } from "../../../../api/route.ts";
import {
  type IdempotencyKey,
  idempotency,
  Replay,
  storeAnswer,
  throwRepeated,
} from "../../../../lambdas/http/idempotency.ts";
import type { HttpInput } from "../../../../lambdas/http/parse.ts";
import type { PresentedCredential } from "../../../../lambdas/http/presented-credential.ts";
import { Problem } from "../../../../lambdas/http/problem.ts";

const now = new Date("2026-11-20T01:02:03.456Z");
const at = now.toISOString();
const day = "2026-11-21T01:02:03.456Z";

const routeOf = (id: string): Route => routes.find((route) => route.id === id) as Route;
const create = routeOf("create-build");
const callers: Record<string, PresentedCredential> = {
  key: { kind: "key", access: "one", organizationId: "org", hash: "" },
  "another key": { kind: "key", access: "two", organizationId: "org", hash: "" },
  session: { kind: "session", origin: { access: "slk_1" }, sessionId: "three", organizationId: "org", hash: "" },
  "another session": {
    kind: "session",
    origin: { access: "slk_1" },
    sessionId: "four",
    organizationId: "org",
    hash: "",
  },
  user: { kind: "token", userId: "five", tokenId: "six", hash: "" },
  "another user": { kind: "token", userId: "seven", tokenId: "six", hash: "" },
  "a user of the console": { kind: "console", userId: "eight", sessionId: "nine", bearerId: "ten", hash: "" },
  "another of the console": { kind: "console", userId: "eleven", sessionId: "nine", bearerId: "ten", hash: "" },
};

interface Sent {
  caller?: PresentedCredential | undefined;
  path?: string;
  /** `null` for a request without the header. */
  key?: string | null;
  text?: string | undefined;
  route?: Route;
}

/** What a request's Idempotency-Key stands for, and the issues that it gives the input. */
async function read({ caller, path = "/builds", key = "key", text, route = create }: Sent) {
  const headers = key === null ? {} : { "idempotency-key": key };
  const input = { credential: caller, headers, text, issues: [] } as unknown as HttpInput;
  const context = { input } as Parameters<NonNullable<ReturnType<typeof idempotency>["before"]>>[0]["context"];
  await idempotency(route, async (reply) => reply).before?.({ event: { rawPath: path }, context } as never);
  return { key: context.idempotencyKey, issues: input.issues };
}

describe("an Idempotency-Key", () => {
  const caller = callers.key;

  test("stands for itself with its caller and path, and the body apart", async () => {
    const first = await read({ caller, text: "{}" });
    expect(await read({ caller, text: "{}" })).toEqual(first);
    const others = [
      ...Object.values(callers).map((one) => ({ caller: one, text: "{}" })),
      { caller, path: "/rebuild", text: "{}" },
      { caller, key: "other", text: "{}" },
    ];
    const hashes = await Promise.all(others.map(async (sent) => (await read(sent)).key?.hash));
    expect(new Set(hashes).size).toBe(others.length);
    expect((await read({ caller, text: "[]" })).key).toEqual({ hash: first.key?.hash, bodyHash: expect.any(String) });
    expect((await read({ caller, text: "[]" })).key?.bodyHash).not.toBe(first.key?.bodyHash);
    expect((await read({ caller })).key).toEqual((await read({ caller, text: "" })).key);
  });

  test.each<[string, Sent]>([
    ["a request without one", { caller, key: null }],
    ["a read", { caller, route: routeOf("list-builds") }],
    ["a request without a credential", {}],
  ])("means nothing to %s", async (_, sent) => {
    expect(await read(sent)).toEqual({ key: undefined, issues: [] });
  });

  test.each([
    ["", false],
    ["k", true],
    ["k".repeat(255), true],
    ["k".repeat(256), false],
  ])("of the length of '%s' is good: %s", async (key, isGood) => {
    const { key: read255, issues } = await read({ caller, key });
    expect(read255 !== undefined).toBe(isGood);
    expect(issues).toEqual(isGood ? [] : [{ path: "Idempotency-Key", message: "must have 1 to 255 characters" }]);
  });
});

describe("a stored answer", () => {
  const key: IdempotencyKey = { hash: "hash", bodyHash: "body" };
  const row = { bodyHash: "body", reply: '{"build":1}', expiresAt: day, ttl: 1 };
  const thrown = (...given: Parameters<typeof throwRepeated>): unknown => {
    try {
      throwRepeated(...given);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test("is given again for the same body, and refused with 422 for another", () => {
    const replay = thrown(row, key, now);
    expect(replay).toBeInstanceOf(Replay);
    expect((replay as Replay).reply).toEqual({ build: 1 });
    const mismatch = thrown({ ...row, bodyHash: "other" }, key, now);
    expect(mismatch).toBeInstanceOf(Problem);
    expect(mismatch).toMatchObject({ code: "idempotency_mismatch", status: 422 });
  });

  test("counts for nothing from its last instant on, and neither does none", () => {
    expect(thrown(undefined, key, now)).toBeUndefined();
    expect(thrown({ ...row, expiresAt: at }, key, now)).toBeUndefined();
    expect(thrown({ ...row, expiresAt: "2026-11-20T01:02:03.457Z" }, key, now)).toBeInstanceOf(Replay);
    expect(thrown({ ...row, expiresAt: at, bodyHash: "other" }, key, now)).toBeUndefined();
  });

  test("is kept for a day, unless one is stored that has not expired", () => {
    expect(storeAnswer(key, { build: 1 }, now)).toMatchObject({
      kind: "put",
      key: { pk: "IDEM#hash", sk: "IDEM" },
      item: { bodyHash: "body", reply: '{"build":1}', expiresAt: day, ttl: Math.ceil(Date.parse(day) / 1000) },
      when: { expiresAt: { is: "absentOrBelow", value: at } },
    });
  });

  test("is completed before it is given; what goes wrong meanwhile is the request's error", async () => {
    const answer = async (error: Error, replay: (reply: unknown) => Promise<unknown>) => {
      const request = { error, context: {} };
      const given = await idempotency(create, replay).onError?.(request as never);
      return { given, error: request.error };
    };
    const replay = new Replay({ build: 1 });
    expect(await answer(replay, async (reply) => [reply])).toEqual({ given: [{ build: 1 }], error: replay });
    const broken = new Error("no address");
    expect(await answer(replay, () => Promise.reject(broken))).toEqual({ given: undefined, error: broken });
    expect(await answer(broken, async () => "an answer")).toEqual({ given: undefined, error: broken });
  });
});
