import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { firstCredentialId } from "../../../lambdas/credentials/model/project-keys.ts";
import { AccessKey, ProjectKeys } from "../../../lambdas/http/model/credentials.ts";
import { Project } from "../../../lambdas/http/model/project.ts";
import { newKeyPair, secretHash } from "../../../lambdas/http/presented-credential.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { startTable } from "../../harness/table.ts";

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<{ statusCode?: number; body?: string }>;
const now = new Date();

let started: Awaited<ReturnType<typeof startTable>>;
let table: typeof started.table;
let handlers: { create: Handler; list: Handler; remove: Handler };
beforeAll(async () => {
  started = await startTable();
  table = started.table;
  vi.stubEnv("TABLE_NAME", "rows");
  // Another test file of this process may have loaded the functions, with the addresses of its own service.
  vi.resetModules();
  const [create, list, remove] = await Promise.all([
    import("../../../lambdas/credentials/create-credential.ts"),
    import("../../../lambdas/credentials/list-credentials.ts"),
    import("../../../lambdas/credentials/delete-credential.ts"),
  ]);
  handlers = { create: create.handler, list: list.handler, remove: remove.handler } as unknown as typeof handlers;
});
afterAll(() => {
  // The next file of this process must not get the functions with the address of this table.
  vi.resetModules();
  return started.close();
});

/** A project of an organization, and calls with the operator's key of that organization. */
async function newProject() {
  const orgId = newId("org", now);
  const projectId = newId("prj", now);
  const { access, secret } = newKeyPair(orgId);
  const owned = { organizationId: orgId, projectId };
  const createdAt = now.toISOString();
  await table.write({
    project: Project.put(
      { id: projectId },
      { id: projectId, organizationId: orgId, name: "App", secret: "x", createdAt },
    ),
    key: AccessKey.put(
      { access },
      { ...owned, access, hash: secretHash(secret), credentialId: 1, manual: false, description: "", createdAt },
    ),
  });
  const call = async (handler: Handler, sent: { credentialId?: string; body?: object } = {}) => {
    const rawPath = `/organizations/${orgId}/projects/${projectId}/credentials`;
    const event = {
      rawPath,
      headers: { authorization: `Bearer ${access}:${secret}` },
      pathParameters: { orgId, organizationId: orgId, projectId, ...sent },
      ...(sent.body && { body: JSON.stringify(sent.body) }),
      isBase64Encoded: false,
      requestContext: { requestId: "r", http: { method: "POST", path: rawPath } },
    } as unknown as APIGatewayProxyEventV2;
    const { statusCode, body = "" } = await handler(event, { getRemainingTimeInMillis: () => 10_000 } as Context);
    return { status: statusCode, body: JSON.parse(body) };
  };
  return {
    projectId,
    create: (body?: object) => call(handlers.create, body ? { body } : {}),
    list: async () => (await call(handlers.list)).body.credentials,
    remove: (credentialId: string) => call(handlers.remove, { credentialId }),
    rows: async () => (await table.read({ keys: ProjectKeys.at({ projectId }) })).keys,
  };
}

describe("the app keys of a project", () => {
  test("are made with a secret that is stored as its hash alone, and listed without it", async () => {
    const project = await newProject();
    expect(await project.list()).toEqual([]);
    const made = await project.create({ description: "for the worker" });
    expect(made.status).toBe(201);
    const { secret, ...credential } = made.body.credential;
    expect(credential).toEqual({
      id: expect.any(Number),
      access: expect.stringMatching(/^slk_/),
      description: "for the worker",
      expiredAt: null,
      createdAt: expect.any(String),
    });
    expect(await project.list()).toEqual([{ ...credential, lastUsedAt: null }]);
    const { key } = await table.read({ key: AccessKey.at({ access: credential.access }) });
    expect(key).toMatchObject({
      hash: secretHash(secret),
      credentialId: credential.id,
      projectId: project.projectId,
      manual: true,
      description: "for the worker",
    });
    expect(JSON.stringify([key, await project.rows()])).not.toContain(secret);
  });

  test("are three at most: the fourth is a 409 with those that exist, and makes nothing", async () => {
    const project = await newProject();
    const made = [await project.create(), await project.create(), await project.create()];
    const listed = await project.list();
    expect(listed.map(({ id }: { id: number }) => id)).toEqual(made.map(({ body }) => body.credential.id));
    expect(await project.create()).toMatchObject({
      status: 409,
      body: {
        code: "credential_limit",
        message: "The project already holds 3 app keys. Reuse one of them, or delete one that its owner names.",
        credentials: listed,
      },
    });
    expect(await project.list()).toEqual(listed);
    expect((await project.remove(String(listed[1].id))).body).toEqual({ credential: listed[1].id });
    expect(await project.rows()).toMatchObject({ held: 2 });
    expect((await project.create()).status).toBe(201);
    expect((await project.create()).status).toBe(409);
  });

  test("have ids that only grow, also within a second and after a deletion", async () => {
    const project = await newProject();
    const idOf = async () => (await project.create()).body.credential.id as number;
    const [first, second] = [await idOf(), await idOf()];
    expect(second).toBeGreaterThan(first);
    await project.remove(String(second));
    expect(await idOf()).toBeGreaterThan(second);
    // A clock that is behind gives no id twice.
    const ahead = first + 1_000;
    await table.write({ keys: ProjectKeys.update(project, { set: { lastId: ahead } }) });
    expect(await idOf()).toBe(ahead + 1);
  });

  test("end with their deletion, once", async () => {
    const project = await newProject();
    const { id, access } = (await project.create()).body.credential;
    expect(await project.remove(String(id))).toEqual({ status: 200, body: { credential: id } });
    expect((await table.read({ key: AccessKey.at({ access }) })).key).toBeUndefined();
    expect(await project.list()).toEqual([]);
    for (const gone of [String(id), "1", "x", `0${id}`]) {
      expect(await project.remove(gone)).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    expect(await project.rows()).toMatchObject({ held: 0 });
  });

  test("are deleted once, also by requests at the same time", async () => {
    const project = await newProject();
    const { id } = (await project.create()).body.credential;
    const answers = await Promise.all([1, 2, 3].map(() => project.remove(String(id))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect(await project.rows()).toMatchObject({ held: 0 });
  });
});

test("a first id is the seconds since 2026 began, and at least 1", () => {
  expect(firstCredentialId(new Date("2026-01-01T00:01:40.999Z"))).toBe(100);
  expect(firstCredentialId(new Date("2026-01-01T00:00:00.000Z"))).toBe(1);
  expect(firstCredentialId(new Date("2025-01-01T00:00:00.000Z"))).toBe(1);
});
