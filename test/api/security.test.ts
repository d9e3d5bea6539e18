import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type RouteId, routes } from "../../api/index.ts";
import { newKeyPair } from "../../lambdas/http/presented-credential.ts";
import { type Running, startRunning } from "../harness/service.ts";

/** A body that passes each route's rules, so that nothing but the credential or the path can be refused. */
const bodies = {
  ping: undefined,
  "list-organizations": undefined,
  "create-organization": { name: "New" },
  "get-organization": undefined,
  "update-organization": { name: "New" },
  "delete-project": undefined,
  "delete-database": undefined,
  "delete-storage": undefined,
  "list-members": undefined,
  "create-member": { email: "new@example.com", role: "member" },
  "update-member": { role: "member" },
  "delete-member": undefined,
  "get-me": undefined,
  "list-tokens": undefined,
  "create-token": undefined,
  "delete-token": undefined,
  "list-projects": undefined,
  "create-project": { name: "New" },
  "get-project": undefined,
  "update-project": { name: "New" },
  "set-managers": { userIds: null },
  "list-domains": undefined,
  "create-domain": { domain: "www.example.com" },
  "delete-domain": undefined,
  "list-databases": undefined,
  "create-database": { name: "New" },
  "update-database": { name: "New" },
  "create-storage": { name: "New" },
  "update-storage": { name: "New" },
  "list-endpoints": undefined,
  "list-builds": undefined,
  "create-build": undefined,
  "get-build": undefined,
  "cancel-build": undefined,
  rebuild: undefined,
  "redeploy-build": undefined,
  "list-build-logs": undefined,
  "list-app-logs": undefined,
  "get-metrics": undefined,
  "create-credential": undefined,
  "list-credentials": undefined,
  "delete-credential": undefined,
  "list-environments": undefined,
  "create-environment": { name: "NAME", value: "value" },
  "update-environment": { value: "value" },
  "delete-environment": undefined,
  "list-events": undefined,
  "create-console-session": { code: "sll_unknown" },
  "get-console-session": undefined,
  "delete-console-session": undefined,
  "list-console-sessions": undefined,
  "begin-passkey": undefined,
  "create-passkey": undefined,
  "begin-passkey-sign-in": undefined,
  "sign-in-with-passkey": undefined,
  "create-connection-code": { challenge: "0".repeat(43), tool: "Tool" },
  "connect-tool": { code: "slc_unknown", verifier: "0".repeat(43) },
  "list-passkeys": undefined,
  "delete-passkey": undefined,
  "end-console-session": undefined,
  "delete-console-sessions": undefined,
  "list-storages": undefined,
  "list-files": undefined,
  "create-files": { files: [{ name: "a", mime: "text/plain" }] },
  "get-file": undefined,
  "delete-file": undefined,
  "list-tables": undefined,
  "create-table": { name: "things", columns: [{ name: "title", type: "string" }] },
  "update-table": { comment: "new" },
  "delete-table": undefined,
  "list-rows": undefined,
  "create-row": { row: {} },
  "get-row": undefined,
  "update-row": { row: { title: "x" } },
  "delete-row": undefined,
  "create-session": undefined,
} satisfies Record<RouteId, unknown>;

const guarded = routes.filter((route) => route.definition.credential !== "none");

describe("every endpoint", () => {
  let running: Running;
  let other: { organizationId: string; projectId: string; storageId: string; bearer: string };
  /** Valid credentials of every kind without access to the seeded organization. */
  const outsiders: Record<string, string> = {};
  const unknownIds: Record<string, string> = {
    orgId: "org_00000000000000000000000000",
    projectId: "prj_00000000000000000000000000",
    buildId: "bld_00000000000000000000000000",
    envId: "env_00000000000000000000000000",
    credentialId: "1",
    dbId: "dbs_00000000000000000000000000",
    storageId: "sto_00000000000000000000000000",
    fileId: "fil_00000000000000000000000000",
    tableName: "nothing",
    rowId: "1",
    domain: "missing.example.com",
    userId: "usr_00000000000000000000000000",
  };
  let own: Record<string, string>;

  beforeAll(async () => {
    running = await startRunning();
    const { seed } = running;
    own = {
      orgId: seed.organizationId,
      projectId: seed.projectId,
      dbId: seed.databaseId,
      storageId: seed.storageId,
    };
    const { organization } = await running.operator("create-organization", { name: "Other" });
    const organizationId = String(organization?.id);
    const { project } = await running.operator("create-project", { organizationId, name: "Other" });
    const { credential } = await running.operator("create-credential", { projectId: project?.id });
    const { storage } = await running.operator("create-storage", { organizationId, name: "Other" });
    other = {
      organizationId,
      projectId: String(project?.id),
      storageId: String(storage?.id),
      bearer: `${credential?.access}:${credential?.secret}`,
    };
    outsiders.key = other.bearer;
    const { body } = await running.call("POST", "/sessions", { bearer: other.bearer });
    outsiders.session = body.session.token;
    for (const [name, isMember] of [
      ["token of a member", true],
      ["token of a user without an organization", false],
    ] as const) {
      const { user } = await running.operator("create-user", { email: `${isMember}@example.com`, name });
      const userId = String(user?.id);
      if (isMember) await running.operator("add-member", { organizationId, userId, role: "owner" });
      outsiders[name] = String((await running.operator("create-token", { userId })).token?.value);
    }
  });
  afterAll(() => running.stop());

  const fill = (path: string, ids: Record<string, string>) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? unknownIds[name] ?? "x");

  const call = (route: (typeof routes)[number], ids: Record<string, string>, bearer?: string | null) =>
    running.call(route.method, fill(route.path, ids), {
      ...(bearer !== undefined && { bearer }),
      ...(bodies[route.id] !== undefined && { body: bodies[route.id] }),
    });

  describe.each(guarded.map((route) => [route.id, route] as const))("%s", (_, route) => {
    test("answers 401 to a missing, malformed, unknown or wrong credential, with one body for all", async () => {
      const stranger = newKeyPair(running.seed.organizationId);
      const { accessKey, secretKey, token } = running.seed;
      const bad = [
        null,
        "",
        "nonsense",
        ":",
        accessKey,
        `${accessKey}:${stranger.secret}`,
        `${stranger.access}:${secretKey}`,
        `${stranger.access}:${stranger.secret}`,
        `${accessKey}:${secretKey}x`,
        `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`,
        "x".repeat(5_000),
      ];
      const answers = await Promise.all(bad.map((bearer) => call(route, own, bearer)));
      // The 401 comes first, even if the path names a missing resource.
      const lost = { ...unknownIds, orgId: running.seed.organizationId };
      answers.push(...(await Promise.all(bad.map((bearer) => call(route, lost, bearer)))));
      for (const answer of answers) {
        expect(answer.status).toBe(401);
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
        const { requestId, ...body } = answer.body;
        expect(requestId).toBe(answer.headers.get("x-request-id"));
        expect(body).toEqual({
          status: "Unauthorized",
          message: "A valid credential is required.",
          code: "unauthorized",
        });
      }
    });

    test.runIf(route.path.includes("{orgId}"))(
      "answers the 404 of a missing resource for everything that is another's",
      async () => {
        const missing = await call(route, unknownIds);
        expect(missing.status).toBe(404);
        const broken = await running.call(route.method, `${fill(route.path, own)}?limit=x&cursor=&dryRun=x`, {
          ...(route.method !== "GET" && { text: '{"name":' }),
          ...(route.method === "POST" && { headers: { "idempotency-key": "x".repeat(256) } }),
        });
        const namesMore = /\{(buildId|envId|credentialId|tableName|rowId|fileId|domain|userId)\}/.test(route.path);
        if (namesMore) expect([broken.status, broken.body.code]).toEqual([404, "not_found"]);
        const strangers = await Promise.all([
          ...Object.values(outsiders).map((bearer) => call(route, own, bearer)),
          call(route, { ...own, orgId: other.organizationId }),
          call(route, { ...own, orgId: other.organizationId, projectId: other.projectId }),
          // A path with only an organization gets the other caller's own organization.
          ...(/\{(projectId|dbId|storageId)\}/.test(route.path)
            ? [call(route, { ...own, orgId: other.organizationId }, other.bearer)]
            : []),
          ...(route.path.includes("{projectId}") ? [call(route, { ...own, projectId: other.projectId })] : []),
          call(route, { ...own, orgId: "org_%2Fx", projectId: "%00" }),
        ]);
        for (const answer of strangers) {
          expect(answer.status).toBe(404);
          expect({ ...answer.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
        }
      },
    );
  });

  it.each(["{", "[]", '{"proof":"x"}'])(
    "create-session checks the credential before it validates the body %s",
    async (text) => {
      const { accessKey } = running.seed;
      const { secret } = newKeyPair(running.seed.organizationId);
      for (const bearer of [null, "x:y", `${accessKey}:${secret}`, running.seed.token]) {
        expect((await running.call("POST", "/sessions", { text, bearer })).status).toBe(401);
      }
      expect((await running.call("POST", "/sessions", { text })).status).toBe(400);
    },
  );

  test.each([
    ["POST", "builds"],
    ["POST", "environments"],
    ["PUT", "environments/env_00000000000000000000000000"],
    ["POST", "tables"],
    ["PUT", "tables/nothing"],
    ["POST", "tables/nothing/rows"],
    ["PUT", "tables/nothing/rows/1"],
    ["POST", "files"],
  ])(
    "%s %s: a resource that is missing or belongs to others is a 404, also with an unreadable or too large body",
    async (method, rest) => {
      const base = (ids: Record<string, string>) =>
        fill(
          rest.startsWith("tables")
            ? `/organizations/{orgId}/databases/{dbId}/${rest}`
            : rest === "files"
              ? "/organizations/{orgId}/storages/{storageId}/files"
              : `/organizations/{orgId}/projects/{projectId}/${rest}`,
          ids,
        );
      const broken = '{"name":';
      const large = `{"comment": "${"x".repeat(2 ** 20)}"}`;
      const named = rest.includes("/");
      for (const [text, status] of [
        [broken, 400],
        [large, 413],
      ] as const) {
        const send = (path: string, bearer?: string) => running.call(method, path, { text, ...(bearer && { bearer }) });
        expect((await send(base({ orgId: String(own.orgId) }))).status).toBe(404);
        expect((await send(base(unknownIds))).status).toBe(404);
        expect((await send(base(own), other.bearer)).status).toBe(404);
        expect((await send(base(own), "wrong")).status).toBe(401);
        expect((await send(base(own))).status).toBe(named ? 404 : status);
      }
    },
  );

  test("accepts the older headers, and lets Authorization win over them", async () => {
    const { accessKey, secretKey } = running.seed;
    const older = { "x-access-key": accessKey, "x-secret-key": secretKey };
    expect((await running.call("GET", "/ping", { bearer: null, headers: older })).status).toBe(200);
    expect((await running.call("GET", "/ping", { bearer: "wrong", headers: older })).status).toBe(401);
    for (const authorization of ["Basic eDp5", "", "Bearer", `Digest ${accessKey}:${secretKey}`]) {
      const both = { ...older, authorization };
      expect((await running.call("GET", "/ping", { bearer: null, headers: both })).status).toBe(401);
    }
  });

  test("a file of another organization is a 404, under its own storage's name too, and stays", async () => {
    const foreign = `/organizations/${other.organizationId}/storages/${other.storageId}/files`;
    const { body } = await running.call("POST", foreign, {
      bearer: other.bearer,
      body: { files: [{ name: "a", mime: "text/plain" }] },
    });
    const fileId = body.files[0].id;
    const { seed } = running;
    for (const storageId of [other.storageId, seed.storageId]) {
      for (const method of ["GET", "DELETE"]) {
        const path = `/organizations/${seed.organizationId}/storages/${storageId}/files/${fileId}`;
        expect([method, (await running.call(method, path)).status]).toEqual([method, 404]);
      }
    }
    expect((await running.call("GET", `${foreign}/${fileId}`, { bearer: other.bearer })).status).toBe(200);
  });

  test("an unknown route is a 404 in the same shape", async () => {
    for (const [method, path] of [
      ["GET", "/nothing"],
      ["DELETE", "/ping"],
      ["GET", "/organizations/"],
    ] as const) {
      const answer = await running.call(method, path);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ status: "Not Found", code: "not_found" });
    }
  });
});
