import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../api/index.ts";
import { openTo } from "../../api/route.ts";
import { newKeyPair } from "../../lambdas/http/presented-credential.ts";
import { Passkey, passkeyIdOf } from "../../lambdas/sign-in/model/passkeys.ts";
import { documentClient } from "../../lambdas/table/client.ts";
import { tableWriter } from "../../lambdas/table/writer.ts";
import { type Running, startRunning } from "../harness/service.ts";

type Served = (typeof routes)[number];

const guarded = routes.filter(({ definition }) => definition.credential !== "none");
const changing = guarded.filter(({ method }) => method !== "GET");
const broken = '{"name":';

/** Who may call a route follows from its declaration: roles, and what a personal access token was made for. */
describe("who may call", () => {
  let running: Running;
  let otherOrganization: string;
  let ownerId: string;
  /** An existing resource for each name in a path. */
  let existing: Record<string, string>;
  const tokens: Record<string, string> = {};

  const fill = (path: string, ids: Record<string, string>) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "missing");

  async function aToken(userId: string, bounds: object = {}): Promise<string> {
    const { token } = await running.operator("create-token", { userId, ...bounds });
    return String(token?.value);
  }

  async function aUser(role: string): Promise<string> {
    const { user } = await running.operator("create-user", { email: `${role}@example.com`, name: role });
    const userId = String(user?.id);
    await running.operator("add-member", { organizationId: running.seed.organizationId, userId, role });
    tokens[role] = await aToken(userId);
    return userId;
  }

  async function aSignIn(userId: string): Promise<string> {
    const { url } = await running.operator("create-sign-in-link", { userId });
    const code = String(url).split("#code=")[1];
    expect((await running.call("POST", "/console/session", { body: { code } })).status).toBe(201);
    return (await running.call("GET", "/me/sessions", { bearer: tokens.read ?? "" })).body.sessions[0].id;
  }

  /** Through the API, a passkey takes an authenticator: test/console/passkeys.ts. */
  async function aPasskey(userId: string): Promise<string> {
    const id = passkeyIdOf("credential");
    const createdAt = new Date().toISOString();
    const key = { credentialId: "credential", publicKey: "key", counter: 0, transports: [] };
    const passkey = { id, userId, name: "Laptop", ...key, createdAt };
    const client = documentClient();
    await tableWriter(client, "slipway").write({ passkey: Passkey.put(passkey, passkey) });
    client.destroy();
    return id;
  }

  beforeAll(async () => {
    running = await startRunning();
    const { seed, project } = running;
    const made = async (path: string, body: object) => (await running.call("POST", path, { body })).body;
    const { organization } = await running.operator("create-organization", { name: "Other" });
    otherOrganization = String(organization?.id);
    ownerId = await aUser("owner");
    await aUser("admin");
    const memberId = await aUser("member");
    await running.operator("add-member", { organizationId: otherOrganization, userId: ownerId, role: "owner" });
    tokens.read = await aToken(ownerId, { access: "read" });
    tokens.deploy = await aToken(ownerId, { access: "deploy" });
    tokens.elsewhere = await aToken(ownerId, { organizationIds: [otherOrganization] });
    tokens.here = await aToken(ownerId, { access: "read", organizationIds: [seed.organizationId] });
    const organizationPath = `/organizations/${seed.organizationId}`;
    const tables = `${organizationPath}/databases/${seed.databaseId}/tables`;
    const files = `${organizationPath}/storages/${seed.storageId}/files`;
    const { table } = await made(tables, { name: "things", columns: [{ name: "title", type: "string" }] });
    existing = {
      orgId: seed.organizationId,
      projectId: seed.projectId,
      dbId: seed.databaseId,
      storageId: seed.storageId,
      userId: memberId,
      buildId: (await made(`${project}/builds`, {})).build.id,
      envId: (await made(`${project}/environments`, { name: "A", value: "b" })).environment.id,
      credentialId: String((await made(`${project}/credentials`, {})).credential.id),
      fileId: (await made(files, { files: [{ name: "a", mime: "text/plain" }] })).files[0].id,
      tableName: table.name,
      domain: (await made(`${project}/domains`, { domain: "www.example.com" })).domain.domain,
      tokenId: String((await running.operator("create-token", { userId: ownerId })).token?.id),
      sessionId: await aSignIn(ownerId),
      passkeyId: await aPasskey(ownerId),
      rowId: String((await made(`${tables}/things/rows`, { row: { title: "x" } })).row.id),
    };
  }, 60_000);
  afterAll(() => running.stop());

  /** The request as JSON that no route accepts, so that nothing is changed: a 403 comes before a 400. */
  const call = (route: Served, bearer: string | undefined, ids = existing) =>
    running.call(route.method, fill(route.path, ids), {
      bearer: bearer ?? "",
      ...(route.method !== "GET" && { text: broken }),
    });

  test.each(changing.map((route) => [route.id, route] as const))(
    "%s: a token that was not made for it is a 403",
    async (_, route) => {
      const refused = (["read", "deploy"] as const).filter((access) => !openTo(route).includes(access));
      expect(refused).toContain("read");
      for (const access of refused) {
        expect(await call(route, tokens[access])).toMatchObject({
          status: 403,
          body: { status: "Forbidden", code: "token_scope" },
        });
      }
    },
  );

  test("a token for deployments creates, cancels, rebuilds and redeploys builds, and changes nothing else", () => {
    const open = changing.filter((route) => openTo(route).includes("deploy")).map(({ id }) => id);
    expect(open.toSorted()).toEqual(["cancel-build", "create-build", "rebuild", "redeploy-build"]);
  });

  test.each(["read", "deploy"])("a token made with access %s may read", async (access) => {
    for (const path of ["/ping", "/organizations", `${running.project}/builds`]) {
      expect((await running.call("GET", path, { bearer: tokens[access] ?? "" })).status).toBe(200);
    }
  });

  test("a token for deployments creates and cancels a build", async () => {
    const bearer = tokens.deploy ?? "";
    const { buildId } = existing;
    expect((await running.call("POST", `${running.project}/builds/${buildId}/cancel`, { bearer })).status).toBe(200);
    const { status, body } = await running.call("POST", `${running.project}/builds`, { bearer });
    expect(status).toBe(201);
    const canceled = await running.call("POST", `${running.project}/builds/${body.build.id}/cancel`, { bearer });
    expect(canceled.status).toBe(200);
  });

  test.each(changing.filter(({ path }) => path.includes("{")).map((route) => [route.id, route] as const))(
    "%s: what does not exist is a 404 before it is a 403",
    async (_, route) => {
      const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
      for (const name of named) {
        const { [name]: __, ...ids } = existing;
        expect([name, (await call(route, tokens.read, ids)).status]).toEqual([name, 404]);
      }
    },
  );

  test.each(guarded.filter(({ path }) => path.includes("{orgId}")).map((route) => [route.id, route] as const))(
    "%s: an organization that the token is not for does not exist",
    async (_, route) => {
      expect(await call(route, tokens.elsewhere)).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect((await call(route, tokens.here)).status).toBe(route.method === "GET" ? 200 : 403);
    },
  );

  const ofTables = guarded.filter(({ path }) => path.includes("{tableName}"));
  test.each(ofTables.map((route) => [route.id, route] as const))(
    "%s: a key that does not exist is a 401, whether the table exists or not",
    async (_, route) => {
      const { access, secret } = newKeyPair(running.seed.organizationId);
      for (const tableName of ["things", "nothing"]) {
        expect((await call(route, `${access}:${secret}`, { ...existing, tableName })).status).toBe(401);
      }
    },
  );

  test("tables: those of another of the caller's organizations, and inner ones, do not exist", async () => {
    const bearer = tokens.owner ?? "";
    const tables = (orgId: string, dbId = "") => `/organizations/${orgId}/databases/${dbId}/tables`;
    const { orgId = "", dbId } = existing;
    expect((await running.call("GET", tables(orgId, dbId), { bearer })).status).toBe(200);
    for (const path of [tables(otherOrganization, dbId), tables(orgId, `dbs_${"0".repeat(26)}`)]) {
      expect(await running.call("GET", path, { bearer })).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    for (const name of ["$tables", "$claims"]) {
      const row = `${tables(orgId, dbId)}/${encodeURIComponent(name)}/rows/1`;
      for (const one of [bearer, tokens.read ?? ""]) {
        expect([name, (await running.call("DELETE", row, { bearer: one })).status]).toEqual([name, 404]);
      }
    }
  });

  test("tables: a token that may not create the first one is a 403", async () => {
    const { database } = await running.operator("create-database", { organizationId: existing.orgId, name: "New" });
    const tables = `/organizations/${existing.orgId}/databases/${database?.id}/tables`;
    const body = { name: "first", columns: [] };
    expect(await running.call("POST", tables, { bearer: tokens.read ?? "", body })).toMatchObject({
      status: 403,
      body: { code: "token_scope" },
    });
  });

  test("the list of organizations has only those that the token is for", async () => {
    const ids = async (bearer = "") =>
      (await running.call("GET", "/organizations", { bearer })).body.organizations.map(({ id }: { id: string }) => id);
    expect((await ids(tokens.owner)).toSorted()).toEqual([running.seed.organizationId, otherOrganization].toSorted());
    expect(await ids(tokens.elsewhere)).toEqual([otherOrganization]);
    expect(await ids(tokens.here)).toEqual([running.seed.organizationId]);
  });

  const restricted = guarded.filter(({ definition }) => definition.role !== undefined);
  test.runIf(restricted.length > 0).each(restricted.map((route) => [route.id, route] as const))(
    "%s: a lesser role is a 403 that names the one it takes",
    async (_, route) => {
      for (const role of route.definition.role === "owner" ? ["member", "admin"] : ["member"]) {
        const self = { ...existing, userId: ownerId };
        expect(await call(route, tokens[role], self)).toMatchObject({
          status: 403,
          body: { code: "forbidden", requiredRole: expect.stringMatching(/^(admin|owner)$/) },
        });
      }
    },
  );

  const ofUsers = guarded.filter(({ definition }) => definition.callers === "users");
  test.runIf(ofUsers.length > 0).each(ofUsers.map((route) => [route.id, route] as const))(
    "%s: a key and an app's session are a 403",
    async (_, route) => {
      const { accessKey, secretKey } = running.seed;
      const session = (await running.call("POST", "/sessions")).body.session.token;
      for (const bearer of [`${accessKey}:${secretKey}`, session]) {
        expect(await call(route, bearer)).toMatchObject({ status: 403, body: { code: "users_only" } });
      }
    },
  );

  test("an expired token is a 401, in a read and in a write", async () => {
    const { token } = await running.operator("create-token", { userId: ownerId, expiresInDays: 1 });
    const bearer = String(token?.value);
    expect((await running.call("GET", "/ping", { bearer })).status).toBe(200);
    const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
    await table.send(
      new UpdateCommand({
        TableName: "slipway",
        Key: { pk: `USR#${ownerId}`, sk: `TOK#${token?.id}` },
        UpdateExpression: "SET expiresAt = :at",
        ExpressionAttributeValues: { ":at": new Date().toISOString() },
      }),
    );
    table.destroy();
    expect((await running.call("GET", "/ping", { bearer })).status).toBe(401);
    expect((await running.call("POST", `${running.project}/builds`, { bearer })).status).toBe(401);
  });
});
