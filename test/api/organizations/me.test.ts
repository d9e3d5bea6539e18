import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let owner: { id: string; token: string };
let second: string;

beforeAll(async () => {
  running = await startRunning();
  const { user } = await running.operator("create-user", { email: "Ada@example.com", name: "Ada" });
  const { token } = await running.operator("create-token", { userId: user?.id });
  owner = { id: String(user?.id), token: String(token?.value) };
  const { organizationId } = running.seed;
  await running.operator("add-member", { organizationId, userId: owner.id, role: "owner" });
  second = (await as(owner.token, "POST", "/organizations", { body: { name: "  Second " } })).body.organization.id;
});
afterAll(() => running.stop());

const as = (bearer: string, method: string, path: string, options: CallOptions = {}) =>
  running.call(method, path, { ...options, bearer });
const mine = (method: string, path: string, body?: object) => as(owner.token, method, path, body ? { body } : {});
const newToken = async (body: object, bearer = owner.token) => (await as(bearer, "POST", "/me/tokens", { body })).body;

describe("GET /me", () => {
  test("has the user with all organizations and roles, and a null user for a key or an app's session", async () => {
    const { organizationId } = running.seed;
    expect((await mine("GET", "/me")).body).toEqual({
      user: { id: owner.id, name: "Ada", email: "Ada@example.com" },
      organizations: [
        { id: organizationId, name: "Local", role: "owner" },
        { id: second, name: "Second", role: "owner" },
      ],
    });
    const session = (await running.call("POST", "/sessions")).body.session.token;
    for (const options of [{}, { bearer: session }]) {
      expect((await running.call("GET", "/me", options)).body).toEqual({
        user: null,
        organizations: [{ id: organizationId, name: "Local", role: null }],
      });
    }
  });
});

describe("an organization", () => {
  test("belongs to the user who created it, and a new name is shown to every member", async () => {
    const made = await mine("POST", "/organizations", { name: "Third" });
    expect(made.status).toBe(201);
    const { id } = made.body.organization;
    expect(made.body).toEqual({ organization: { id: expect.stringMatching(/^org_/), name: "Third", role: "owner" } });
    expect((await mine("GET", `/organizations/${id}`)).body).toEqual(made.body);
    const renamed = await mine("PUT", `/organizations/${id}`, { name: " Renamed\t" });
    expect([renamed.status, renamed.body]).toEqual([200, { organization: { id, name: "Renamed", role: "owner" } }]);
    const { body } = await mine("GET", "/organizations");
    expect(body.organizations).toContainEqual({ id, name: "Renamed", role: "owner" });
    expect((await running.call("GET", `/organizations/${id}`)).status).toBe(404);
  });

  test("a key has no role in it, and may rename it", async () => {
    const path = `/organizations/${running.seed.organizationId}`;
    const renamed = await running.call("PUT", path, { body: { name: "Local" } });
    expect(renamed.body).toEqual({ organization: { id: running.seed.organizationId, name: "Local", role: null } });
  });

  test.each([
    {},
    { name: "" },
    { name: "  " },
    { name: "x".repeat(129) },
    { name: 1 },
    { name: null },
    { name: "\u0000" },
  ])("is not named %j", async (body) => {
    for (const [method, path] of [
      ["POST", "/organizations"],
      ["PUT", `/organizations/${second}`],
    ] as const) {
      const answer = await mine(method, path, body);
      expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request", issues: [{ path: "name" }] } });
    }
  });

  test("a name has up to 128 characters, however many bytes they have", async () => {
    const name = "🚀".repeat(128);
    expect((await mine("PUT", `/organizations/${second}`, { name })).body.organization.name).toBe(name);
    expect((await mine("PUT", `/organizations/${second}`, { name: "Second" })).status).toBe(200);
  });
});

describe("personal access tokens", () => {
  test("are made, listed without their values, used and revoked", async () => {
    const { token } = await newToken({
      description: " CI ",
      access: "read",
      organizationIds: [second],
      expiresInDays: 7,
    });
    expect(token).toEqual({
      id: expect.stringMatching(/^tok_/),
      description: "CI",
      access: "read",
      organizationIds: [second],
      createdAt: expect.any(String),
      expiresAt: new Date(Date.parse(token.createdAt) + 7 * 24 * 3600 * 1000).toISOString(),
      lastUsedAt: null,
      value: expect.stringMatching(/^slp_/),
    });
    expect((await as(token.value, "GET", "/organizations")).body.organizations).toHaveLength(1);
    const { value: _, ...listed } = token;
    const { body } = await mine("GET", "/me/tokens");
    expect(body.tokens.find(({ id }: { id: string }) => id === token.id)).toMatchObject({
      ...listed,
      lastUsedAt: expect.anything(),
    });
    expect(JSON.stringify(body)).not.toContain(token.value);
    const revoked = await mine("DELETE", `/me/tokens/${token.id}`);
    expect([revoked.status, revoked.body]).toEqual([200, { token: token.id }]);
    expect((await as(token.value, "GET", "/ping")).status).toBe(401);
    expect((await mine("DELETE", `/me/tokens/${token.id}`)).status).toBe(404);
  });

  test("are made and revoked by the operator too, with the same bounds", async () => {
    const bounds = { description: "CI", access: "read", organizationIds: [second], expiresInDays: 1 };
    const { token } = await running.operator("create-token", { userId: owner.id, ...bounds });
    const value = String(token?.value);
    expect((await as(value, "GET", "/organizations")).body.organizations).toHaveLength(1);
    expect((await as(value, "POST", "/organizations", { body: { name: "x" } })).body.code).toBe("token_scope");
    expect(await running.operator("revoke-token", { tokenId: token?.id })).toEqual({ token: token?.id });
    expect((await as(value, "GET", "/ping")).status).toBe(401);
  });

  test("have access to everything unless they are limited", async () => {
    const { token } = await newToken({});
    expect(token).toMatchObject({ description: "", access: "all", organizationIds: null, expiresAt: null });
  });

  test.each([
    [{ access: "write" }, "access"],
    [{ organizationIds: [] }, "organizationIds"],
    [{ organizationIds: ["org_00000000000000000000000000"] }, "organizationIds"],
    [{ organizationIds: ["nonsense", "x".repeat(3_000)] }, "organizationIds"],
    [{ organizationIds: "all" }, "organizationIds"],
    [{ expiresInDays: 0 }, "expiresInDays"],
    [{ expiresInDays: 366 }, "expiresInDays"],
    [{ expiresInDays: 1.5 }, "expiresInDays"],
    [{ expiresInDays: "7" }, "expiresInDays"],
    [{ description: "x".repeat(256) }, "description"],
  ])("%j is a 400", async (body, path) => {
    const answer = await mine("POST", "/me/tokens", body);
    expect(answer).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  test("one that is created with a limited token has at most its organizations and its validity", async () => {
    const { organizationId } = running.seed;
    const { token: bounded } = await newToken({ organizationIds: [second], expiresInDays: 2 });
    const inherited = await newToken({ expiresInDays: 300 }, bounded.value);
    expect(inherited.token).toMatchObject({ organizationIds: [second], expiresAt: bounded.expiresAt });
    expect((await newToken({}, bounded.value)).token).toMatchObject({ expiresAt: bounded.expiresAt });
    const refused = await as(bounded.value, "POST", "/me/tokens", {
      body: { organizationIds: [second, organizationId] },
    });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "organizationIds" }] } });
    expect(await as(bounded.value, "POST", "/organizations", { body: { name: "Beyond" } })).toMatchObject({
      status: 403,
      body: { code: "token_scope" },
    });
    const { body } = await as(bounded.value, "GET", "/me/tokens");
    expect(body.tokens.every((one: { organizationIds: string[] }) => one.organizationIds?.join() === second)).toBe(
      true,
    );
    const { token: free } = await newToken({});
    expect((await as(bounded.value, "DELETE", `/me/tokens/${free.id}`)).status).toBe(404);
    expect((await as(free.value, "GET", "/ping")).status).toBe(200);
    // A token may revoke itself.
    expect((await as(bounded.value, "DELETE", `/me/tokens/${bounded.id}`)).status).toBe(200);
    expect((await as(bounded.value, "GET", "/ping")).status).toBe(401);
  });

  test("of another user do not exist", async () => {
    const { token } = await newToken({});
    const { seed } = running;
    expect((await as(seed.token, "DELETE", `/me/tokens/${token.id}`)).status).toBe(404);
    expect((await as(token.value, "GET", "/ping")).status).toBe(200);
  });

  test("a repeated request answers without the value, and the first token stays the only one", async () => {
    const headers = { "idempotency-key": "one" };
    const body = { description: "Repeated" };
    const first = await as(owner.token, "POST", "/me/tokens", { headers, body });
    const again = await as(owner.token, "POST", "/me/tokens", { headers, body });
    const { value: _, ...token } = first.body.token;
    expect([again.status, again.body]).toEqual([201, { token }]);
    const { tokens } = (await mine("GET", "/me/tokens")).body;
    expect(tokens.filter(({ description }: { description: string }) => description === "Repeated")).toHaveLength(1);
  });
});
