import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { secretHash } from "../../lambdas/http/presented-credential.ts";
import { SignInLink } from "../../lambdas/sign-in/model/link.ts";
import { userOfToken } from "../../local/seed.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";

describe("signing in to the console", () => {
  let running: Running;
  let userId: string;
  const session = "/console/session";

  beforeAll(async () => {
    running = await startRunning(mkdtempSync(join(tmpdir(), "slipway-sign-in-")));
    userId = userOfToken(running.seed.token) ?? "";
  }, 60_000);
  afterAll(() => running.stop());

  const newCode = async (of = userId) => {
    const { url } = (await running.operator("create-sign-in-link", { userId: of })) as unknown as { url: string };
    return url.split("#code=")[1] ?? "";
  };
  const post = (code: unknown, headers: Record<string, string> = {}) =>
    running.call("POST", session, { bearer: null, body: { code }, headers });
  const cookieOf = (answer: Answer) => answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const get = (cookie: string, headers: Record<string, string> = {}) =>
    running.call("GET", session, { bearer: null, headers: { cookie, ...headers } });
  const signOut = (cookie: string) => running.call("DELETE", session, { bearer: null, headers: { cookie } });
  const signIn = async () => {
    const answer = await post(await newCode());
    expect(answer.status).toBe(201);
    return { bearer: String(answer.body.session.token), cookie: cookieOf(answer), answer };
  };

  test("a link leads to the console on localhost, and is valid for 15 minutes", async () => {
    const made = (await running.operator("create-sign-in-link", { userId })) as unknown as Record<string, string>;
    const port = new URL(running.seed.baseUrl).port;
    expect(made.url?.replace(/sll_\w+$/, "CODE")).toBe(`http://localhost:${port}/console/sign-in#code=CODE`);
    const minutes = (Date.parse(made.expiresAt ?? "") - Date.now()) / 60_000;
    expect(Math.round(minutes)).toBe(15);
    await expect(
      running.operator("create-sign-in-link", { userId: "usr_00000000000000000000000000" }),
    ).rejects.toMatchObject({ code: "not_found" });
  });

  test("a code gives a bearer that counts as the user, and a cookie that only the session's route gets", async () => {
    const { answer, bearer } = await signIn();
    expect(answer.body.session).toEqual({
      token: expect.stringMatching(/^slb_/),
      expiresAt: expect.any(String),
      user: { id: userId, name: "Local user", email: "local@localhost.localdomain" },
    });
    expect(Math.round((Date.parse(answer.body.session.expiresAt) - Date.now()) / 60_000)).toBe(10);
    const cookie = answer.headers.get("set-cookie");
    expect(cookie).toMatch(
      /^slipway_session=slw_\w+; Path=\/console\/session; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    const { body } = await running.call("GET", "/organizations", { bearer });
    expect(body.organizations).toMatchObject([{ id: running.seed.organizationId, role: "owner" }]);
    const build = await running.call("POST", `${running.project}/builds`, { bearer });
    expect(build.status).toBe(201);
    await running.call("POST", `${running.project}/builds/${build.body.build.id}/cancel`, { bearer });
    const { body: seen } = await running.call("GET", `/organizations/${running.seed.organizationId}/events?limit=1`);
    expect(seen.events[0]).toMatchObject({ action: "cancel-build", actor: { kind: "user", userId } });
  });

  test("a code works once, also for requests at the same time", async () => {
    const code = await newCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401, 401, 401]);
    for (const { body, status } of answers) if (status === 401) expect(body.code).toBe("unauthorized");
    expect((await post(code)).status).toBe(401);
  });

  test("a code that is unknown, malformed or missing does not sign a user in", async () => {
    const { status, body } = await post("sll_unknown");
    expect([status, body.message]).toEqual([401, "A valid credential is required."]);
    expect((await post("")).status).toBe(401);
    expect((await post(7)).status).toBe(400);
    expect((await post("x".repeat(201))).status).toBe(400);
    expect((await running.call("POST", session, { bearer: null })).status).toBe(400);
  });

  /** The row of a code's link, which ends at this time. */
  async function expires(code: string, expiresAt: Date): Promise<void> {
    const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
    const Key = SignInLink.key({ codeHash: secretHash(code) });
    const change = "SET expiresAt = :at";
    const ExpressionAttributeValues = { ":at": expiresAt.toISOString() };
    await table.send(
      new UpdateCommand({ TableName: "slipway", Key, UpdateExpression: change, ExpressionAttributeValues }),
    );
    table.destroy();
  }

  test("an expired code is refused although its row still exists", async () => {
    const [expired, valid] = [await newCode(), await newCode()];
    await expires(expired, new Date(Date.now() - 1));
    await expires(valid, new Date(Date.now() + 60_000));
    expect((await post(expired)).status).toBe(401);
    expect((await post(valid)).status).toBe(201);
  });

  test("an invitation signs the new member in once, and not after the member was removed or after seven days", async () => {
    const members = `/organizations/${running.seed.organizationId}/members`;
    const invite = async (email: string) => {
      const { body } = await running.call("POST", members, {
        bearer: running.seed.token,
        body: { email, role: "member" },
      });
      return { id: String(body.member.id), code: String(body.invitation.url.split("#code=")[1]) };
    };
    const [joins, removed, late] = [
      await invite("joins@example.com"),
      await invite("removed@example.com"),
      await invite("late@example.com"),
    ];
    const { status, body } = await post(joins.code);
    expect([status, body.session.user]).toEqual([201, { id: joins.id, name: "joins", email: "joins@example.com" }]);
    const me = await running.call("GET", "/me", { bearer: body.session.token });
    expect(me.body).toMatchObject({
      user: { id: joins.id },
      organizations: [{ id: running.seed.organizationId, role: "member" }],
    });
    expect((await post(joins.code)).status).toBe(401);
    const gone = await running.call("DELETE", `${members}/${removed.id}`, { bearer: running.seed.token });
    expect([gone.status, (await post(removed.code)).status]).toEqual([200, 401]);
    await expires(late.code, new Date(Date.now() - 1));
    expect((await post(late.code)).status).toBe(401);
  });

  test("the cookie gives fresh bearers until the user signs out, which ends them all at once", async () => {
    const { cookie, bearer } = await signIn();
    const fresh = await get(cookie);
    expect([fresh.status, fresh.body.session.user.id]).toEqual([200, userId]);
    expect(fresh.body.session.token).not.toBe(bearer);
    for (const one of [bearer, fresh.body.session.token]) {
      expect((await running.call("GET", "/ping", { bearer: one })).status).toBe(200);
    }
    const out = await signOut(cookie);
    expect([out.status, out.headers.get("set-cookie")]).toEqual([200, expect.stringContaining("Max-Age=0")]);
    for (const one of [bearer, fresh.body.session.token]) {
      expect((await running.call("GET", "/ping", { bearer: one })).status).toBe(401);
      expect((await running.call("POST", `${running.project}/builds`, { bearer: one })).status).toBe(401);
    }
    expect((await get(cookie)).status).toBe(401);
    expect((await signOut(cookie)).body).toEqual({ session: null });
  });

  test("no cookie, another's and a changed one are a 401; the API itself reads none", async () => {
    const { cookie } = await signIn();
    const changed = cookie.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const one of ["", "slipway_session=", "other=1", changed]) expect((await get(one)).status).toBe(401);
    expect((await get(`first=1; ${cookie}; last=2`)).status).toBe(200);
    const answer = await running.call("GET", "/organizations", { bearer: null, headers: { cookie } });
    expect(answer.status).toBe(401);
    expect((await running.call("GET", "/ping", { bearer: cookie.split("=")[1] ?? "" })).status).toBe(401);
  });

  test.each([
    ["another site's origin", { origin: "https://evil.example" }],
    ["the origin null", { origin: "null" }],
    ["another port", { origin: "http://localhost:1" }],
    ["a cross-site fetch", { "sec-fetch-site": "cross-site" }],
    ["a same-site fetch", { "sec-fetch-site": "same-site" }],
  ])("a page with %s can neither sign in, refresh nor sign out", async (_, headers) => {
    const { cookie } = await signIn();
    const code = await newCode();
    const refused = [
      await post(code, headers),
      await get(cookie, headers),
      await running.call("DELETE", session, { bearer: null, headers: { cookie, ...headers } }),
    ];
    for (const { status, body } of refused) expect([status, body.code]).toEqual([403, "foreign_origin"]);
    expect((await get(cookie, { origin: running.seed.baseUrl, "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await post(code)).status).toBe(201);
  });

  test("a user sees where they are signed in, and ends one session or all", async () => {
    const [one, other] = [await signIn(), await signIn()];
    const list = async (bearer: string) => (await running.call("GET", "/me/sessions", { bearer })).body.sessions;
    const seen = await list(one.bearer);
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent)).toHaveLength(1);
    const [current] = (await list(other.bearer)).filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    const end = () => running.call("DELETE", `/me/sessions/${current.id}`, { bearer: one.bearer });
    expect((await end()).body).toEqual({ session: current.id });
    expect((await end()).status).toBe(404);
    expect((await get(other.cookie)).status).toBe(401);
    const all = await running.call("DELETE", "/me/sessions", { bearer: running.seed.token });
    expect([all.status, all.body.sessions.length]).toEqual([200, seen.length - 1]);
    expect((await get(one.cookie)).status).toBe(401);
    expect(await list(running.seed.token)).toEqual([]);
    const byKey = await running.call("GET", "/me/sessions");
    expect([byKey.status, byKey.body.code]).toEqual([403, "users_only"]);
  });

  test("a user cannot end another user's session", async () => {
    const { user } = await running.operator("create-user", { email: "other@example.com", name: "Other" });
    const { token } = await running.operator("create-token", { userId: user?.id });
    const { bearer, cookie } = await signIn();
    const { body } = await running.call("GET", "/me/sessions", { bearer });
    const path = `/me/sessions/${body.sessions[0].id}`;
    expect((await running.call("DELETE", path, { bearer: String(token?.value) })).status).toBe(404);
    expect((await get(cookie)).status).toBe(200);
  });
});
