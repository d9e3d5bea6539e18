import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { firstCredentialId } from "../../../lambdas/credentials/model/project-keys.ts";
import { AccessKey, Membership, ProjectKeys, Session, Token } from "../../../lambdas/http/model/credentials.ts";
import { Project } from "../../../lambdas/http/model/project.ts";
import { newKeyPair, newToken, readCredential, secretHash } from "../../../lambdas/http/presented-credential.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startStsServer, stsService } from "../../../local/sts/server.ts";
import { type CredentialStore, openCredentials } from "../../../local/sts/store.ts";
import { signIdentityProof } from "../../../sdk/identity-proof.ts";
import { bearer, type Handler, invoke } from "../../harness/handlers.ts";
import { startTable } from "../../harness/table.ts";

const now = new Date();

let started: Awaited<ReturnType<typeof startTable>>;
let table: typeof started.table;
let handlers: { create: Handler; list: Handler; remove: Handler; open: Handler };
const home = mkdtempSync(join(tmpdir(), "credentials-"));
const appRole = "arn:aws:iam::000000000000:role/app-task";
const serviceHost = "api.slipway.example";
let credentials: CredentialStore;
/** STS, and ECS with one answer to DescribeTasks. */
let aws: AwsServer;
let tasks: { taskArn: string; lastStatus: string; group: string }[] = [];

beforeAll(async () => {
  started = await startTable();
  table = started.table;
  credentials = openCredentials({ dir: home });
  const described = async () => ({ status: 200, body: JSON.stringify({ tasks, failures: [] }) });
  aws = await startStsServer([stsService({ credentials }), described]);
  vi.stubEnv("AWS_ENDPOINT_URL_STS", aws.endpoint);
  vi.stubEnv("AWS_ENDPOINT_URL_ECS", aws.endpoint);
  vi.stubEnv("CLUSTER_NAME", "apps");
  vi.stubEnv("APP_TASK_ROLE", appRole);
  vi.stubEnv("SERVICE_HOST", serviceHost);
  vi.stubEnv("TABLE_NAME", "rows");
  // Another test file of this process may have loaded the functions, with the addresses of its own service.
  vi.resetModules();
  const [create, list, remove, open] = await Promise.all([
    import("../../../lambdas/credentials/create-credential.ts"),
    import("../../../lambdas/credentials/list-credentials.ts"),
    import("../../../lambdas/credentials/delete-credential.ts"),
    import("../../../lambdas/sessions/create-session.ts"),
  ]);
  const [createOne, removeOne] = [create.handler, remove.handler];
  handlers = {
    create: createOne,
    list: list.handler,
    remove: removeOne,
    open: open.handler,
  } as unknown as typeof handlers;
});
afterAll(async () => {
  // The next file of this process must not get the functions with the address of this table.
  vi.resetModules();
  await aws.close();
  await started.close();
  rmSync(home, { recursive: true });
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
  const key = `${access}:${secret}`;
  const call = (handler: Handler, params: object = {}, headers: object = {}, text?: string) =>
    invoke(handler, {
      path: `/organizations/${orgId}/projects/${projectId}/credentials`,
      params: { orgId, organizationId: orgId, projectId, ...params },
      headers: { ...bearer(key), ...headers },
      ...(text !== undefined && { text }),
    });
  return {
    orgId,
    projectId,
    access,
    key,
    create: (body?: object, headers?: object) => call(handlers.create, {}, headers, body && JSON.stringify(body)),
    list: async () => (await call(handlers.list)).body.credentials,
    remove: (credentialId: string, headers?: object) => call(handlers.remove, { credentialId }, headers),
    rows: async () => (await table.read({ keys: ProjectKeys.at({ projectId }) })).keys,
  };
}

/** A personal access token of a member of the organization that may only read. */
async function newReader(organizationId: string): Promise<string> {
  const [userId, id] = [newId("usr", now), newId("tok", now)];
  const token = newToken(userId, id);
  const row = { id, userId, hash: secretHash(token), description: "", createdAt: now.toISOString() };
  await table.write({
    token: Token.put({ userId, id }, { ...row, access: "read" }),
    membership: Membership.put(
      { userId, organizationId },
      { userId, organizationId, organizationName: "One", role: "member" },
    ),
  });
  return token;
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

  test("are made once by a repeated request, whose answer has no secret", async () => {
    const project = await newProject();
    const repeated = { "idempotency-key": "once" };
    const { secret, ...credential } = (await project.create({}, repeated)).body.credential;
    expect(await project.create({}, repeated)).toMatchObject({ status: 201, body: { credential } });
    expect((await project.create({}, repeated)).body.credential).not.toHaveProperty("secret");
    expect(await project.list()).toEqual([{ ...credential, lastUsedAt: null }]);
  });

  test("have a description of at most 255 characters, which is checked after the key", async () => {
    const project = await newProject();
    const tooLong = { description: "x".repeat(256) };
    expect(await project.create(tooLong)).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await project.create(tooLong, bearer(newKeyPair(project.orgId).access))).toMatchObject({ status: 401 });
    expect(await project.rows()).toBeUndefined();
    expect((await project.create({ description: "x".repeat(255) })).status).toBe(201);
  });

  test("are listed oldest first", async () => {
    const project = await newProject();
    const held = (id: number) => ({ id, access: `slk_${id}`, description: "", createdAt: now.toISOString() });
    const row = { lastId: 10, held: 3, key_10: held(10), key_9: held(9), key_8: held(8) };
    await table.write({ keys: ProjectKeys.put(project, row) });
    expect((await project.list()).map(({ id }: { id: number }) => id)).toEqual([8, 9, 10]);
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
    expect(await project.remove(String(id))).toMatchObject({ status: 200, body: { credential: id } });
    expect((await table.read({ key: AccessKey.at({ access }) })).key).toBeUndefined();
    expect(await project.list()).toEqual([]);
    for (const gone of [String(id), "1", "x", `0${id}`]) {
      expect(await project.remove(gone)).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    expect(await project.rows()).toMatchObject({ held: 0 });
  });

  test("that do not exist are a 404 before the 403 of a token that may only read", async () => {
    const project = await newProject();
    const { id } = (await project.create()).body.credential;
    const headers = bearer(await newReader(project.orgId));
    expect(await project.remove(String(id), headers)).toMatchObject({ status: 403, body: { code: "token_scope" } });
    expect(await project.remove(String(id + 1), headers)).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await project.rows()).toMatchObject({ held: 1 });
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

describe("a session", () => {
  const unauthorized = { status: 401, body: { code: "unauthorized", message: "A valid credential is required." } };
  const open = (credential?: string, text?: string) =>
    invoke(handlers.open, { headers: credential ? bearer(credential) : {}, ...(text !== undefined && { text }) });
  const task = "0123456789abcdef".repeat(2);

  async function proofOf(host = serviceHost): Promise<string> {
    const keys = credentials.issue({ roleArn: appRole, sessionName: task, durationSeconds: 900 });
    return JSON.stringify({ proof: await signIdentityProof(keys, host, { AWS_ENDPOINT_URL_STS: aws.endpoint }) });
  }
  const runs = (projectId: string, lastStatus = "RUNNING") => {
    const group = `service:app-${projectId.replace("_", "-")}`;
    tasks = [{ taskArn: `arn:aws:ecs:us-east-1:000000000000:task/apps/${task}`, lastStatus, group }];
  };

  test("is made with a key, ends after ten minutes, and is stored as its token's hash", async () => {
    const { orgId, access, key } = await newProject();
    const before = Date.now();
    const { status, body } = await open(key);
    expect(status).toBe(201);
    const { token, organizationId, expiresAt } = body.session;
    expect(organizationId).toBe(orgId);
    const end = Date.parse(expiresAt);
    expect(end).toBeGreaterThanOrEqual(before + 600_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 600_000);
    const presented = readCredential(bearer(token));
    expect(presented).toMatchObject({ kind: "session", organizationId: orgId, origin: { access } });
    if (presented?.kind !== "session") throw new Error("It is the token of a session");
    const { session } = await table.read({ session: Session.at({ id: presented.sessionId }) });
    expect(session).toEqual({ organizationId: orgId, hash: secretHash(token), expiresAt, ttl: Math.ceil(end / 1000) });
  });

  test("is not made with another credential than a key, nor without one", async () => {
    const project = await newProject();
    const { body } = await open(project.key);
    const wrong = `${project.access}:${newKeyPair(project.orgId).secret}`;
    for (const credential of [body.session.token, await newReader(project.orgId), wrong, undefined]) {
      expect(await open(credential)).toMatchObject(unauthorized);
    }
  });

  test("is not made by an unreadable body: a 401, and with a good key the 400", async () => {
    const project = await newProject();
    const wrong = `${project.access}:${newKeyPair(project.orgId).secret}`;
    for (const credential of [wrong, await newReader(project.orgId), undefined]) {
      expect(await open(credential, '{"proof":')).toMatchObject(unauthorized);
    }
    expect(await open(project.key, '{"proof":')).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(await open(project.key, '{"proof":{}}')).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  });

  test("of a running app is made with its proof, for the organization of its project", async () => {
    const { orgId, projectId } = await newProject();
    runs(projectId);
    const { status, body } = await open(undefined, await proofOf());
    expect(status).toBe(201);
    expect(body.session.organizationId).toBe(orgId);
    const presented = readCredential(bearer(body.session.token));
    expect(presented).toMatchObject({ kind: "session", organizationId: orgId, origin: { projectId } });
    const { session } =
      presented?.kind === "session" ? await table.read({ session: Session.at({ id: presented.sessionId }) }) : {};
    expect(session).toMatchObject({ organizationId: orgId, hash: secretHash(body.session.token) });
  });

  test("is not made with the proof for another service, of a task that has ended, or of a deleted project", async () => {
    const { projectId, key } = await newProject();
    runs(projectId);
    expect(await open(undefined, await proofOf("api.another.example"))).toMatchObject(unauthorized);
    runs(projectId, "STOPPED");
    expect(await open(undefined, await proofOf())).toMatchObject(unauthorized);
    // A key does not make up for a proof that is refused.
    expect(await open(key, await proofOf())).toMatchObject(unauthorized);
    runs(newId("prj", now));
    expect(await open(undefined, await proofOf())).toMatchObject(unauthorized);
  });
});
