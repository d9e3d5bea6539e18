import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noSettings } from "../../../api/stored-settings.ts";
import { type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let organization: string;
let projects: string;

beforeAll(async () => {
  running = await startRunning();
  organization = `/organizations/${running.seed.organizationId}`;
  projects = `${organization}/projects`;
});
afterAll(() => running.stop());

const made = async (name: string, body: object = {}) =>
  (await running.call("POST", projects, { body: { name, ...body } })).body.project;
const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

describe("projects", () => {
  test("are made with all settings, read and changed field by field", async () => {
    const created = await running.call("POST", projects, { body: { name: " Web ", settings: { memory: 1024 } } });
    const { project } = created.body;
    expect([created.status, project]).toEqual([
      201,
      {
        id: expect.stringMatching(/^prj_/),
        name: "Web",
        settings: { ...noSettings, memory: 1024 },
        managers: null,
        createdAt: expect.any(String),
        updatedAt: project.createdAt,
      },
    ]);
    const path = `${projects}/${project.id}`;
    expect((await running.call("GET", path)).body).toEqual({ project });
    const { body } = await running.call("PUT", path, { body: { settings: { instances: 2 } } });
    const changed = { ...project, settings: { ...project.settings, instances: 2 }, updatedAt: body.project.updatedAt };
    expect(body.project).toEqual(changed);
    expect(body.project.updatedAt > project.updatedAt).toBe(true);
    const renamed = await running.call("PUT", path, { body: { name: "Shop", settings: { memory: null } } });
    expect(renamed.body.project).toMatchObject({ name: "Shop", settings: { memory: null, instances: 2 } });
    const listed = (await running.call("GET", projects)).body.projects;
    expect(listed.find(({ id }: { id: string }) => id === project.id)).toEqual(renamed.body.project);
    expect((await running.call("GET", `${path}/builds`)).body.builds).toEqual([]);
  });

  test.each([
    [{}, "name"],
    [{ name: "" }, "name"],
    [{ name: "x".repeat(129) }, "name"],
    [{ name: "x", settings: { memory: 1 } }, "settings.memory"],
    [{ name: "x", settings: { startCommand: "" } }, "settings.startCommand"],
    [{ name: "x", settings: [] }, "settings"],
  ])("are not made of %j", async (body, path) => {
    const answer = await running.call("POST", projects, { body });
    expect(answer).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  test("two changes at once both apply", async () => {
    const { id } = await made("Changing");
    const path = `${projects}/${id}`;
    const answers = await Promise.all([
      running.call("PUT", path, { body: { name: "Changed" } }),
      running.call("PUT", path, { body: { settings: { memory: 2048 } } }),
      running.call("PUT", path, { body: { settings: { instances: 3 } } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await running.call("GET", path)).body.project).toMatchObject({
      name: "Changed",
      settings: { memory: 2048, instances: 3 },
    });
  });

  test("page newest first, and a cursor belongs to its list", async () => {
    const { organization: other } = await running.operator("create-organization", { name: "Paged" });
    const { project: first } = await running.operator("create-project", { organizationId: other?.id, name: "0" });
    const { credential } = await running.operator("create-credential", { projectId: first?.id });
    const bearer = `${credential?.access}:${credential?.secret}`;
    const list = `/organizations/${other?.id}/projects`;
    for (let index = 1; index < 7; index += 1) {
      await running.call("POST", list, { body: { name: String(index) }, bearer });
    }
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await running.call("GET", `${list}?limit=3${query}`, { bearer });
      expect(body.projects.length).toBeLessThanOrEqual(3);
      names.push(...body.projects.map(({ name }: { name: string }) => name));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(names).toEqual(["6", "5", "4", "3", "2", "1", "0"]);
    const page = await running.call("GET", `${list}?limit=1`, { bearer });
    const sealed = encodeURIComponent(page.body.nextCursor);
    expect((await running.call("GET", `${projects}?cursor=${sealed}`)).status).toBe(400);
    const id = page.body.projects[0].id;
    const forged = Buffer.from(`${"x".repeat(16)}${id}`).toString("base64url");
    for (const bad of ["x", forged, id, `${sealed}x`]) {
      expect((await running.call("GET", `${list}?cursor=${bad}`, { bearer })).status).toBe(400);
    }
    for (const limit of ["0", "101", "x", ""]) {
      expect((await running.call("GET", `${list}?limit=${limit}`, { bearer })).status).toBe(400);
    }
  });
});

describe("managers", () => {
  test("are a list of members of the organization, an empty list, or every member (null)", async () => {
    const { id } = await made("Managed");
    const path = `${projects}/${id}`;
    const { user } = await running.operator("create-user", { email: "manager@example.com", name: "Manager" });
    const userId = String(user?.id);
    const set = (userIds: unknown) => running.call("PUT", `${path}/managers`, { body: { userIds } });
    expect((await set([userId])).status).toBe(400);
    await running.operator("add-member", { organizationId: running.seed.organizationId, userId, role: "member" });
    const manager = { id: userId, name: "Manager", email: "manager@example.com" };
    expect((await set([userId, userId])).body.project.managers).toEqual([manager]);
    expect((await running.call("GET", path)).body.project.managers).toEqual([manager]);
    expect((await set([])).body.project.managers).toEqual([]);
    const { token } = running.seed;
    const refused = await running.call("POST", `${path}/builds`, { bearer: token });
    expect(refused).toMatchObject({ status: 403, body: { code: "not_a_manager", managers: [] } });
    expect((await set(null)).body.project.managers).toBeNull();
    const listed = (await running.call("GET", projects)).body.projects;
    expect(listed.find((one: { id: string }) => one.id === id).managers).toBeNull();
    for (const bad of [undefined, "x", [1], ["usr_00000000000000000000000000"], [userId, "nonsense"]]) {
      expect(await set(bad)).toMatchObject({
        status: 400,
        body: { issues: [{ path: expect.stringMatching(/^userIds/) }] },
      });
    }
  });
});

describe("domains", () => {
  test("are added once among all projects, listed oldest first, and free again after their removal", async () => {
    const [one, other] = [await made("One"), await made("Other")];
    const domains = (id: string) => `${projects}/${id}/domains`;
    const added = await running.call("POST", domains(one.id), { body: { domain: "WWW.Example.com" } });
    const domain = { domain: "www.example.com", status: "pending", createdAt: expect.any(String) };
    expect([added.status, added.body]).toEqual([201, { domain }]);
    for (const id of [one.id, other.id]) {
      const taken = await running.call("POST", domains(id), { body: { domain: "www.example.com" } });
      expect(taken).toMatchObject({ status: 409, body: { code: "name_taken" } });
    }
    await running.call("POST", domains(one.id), { body: { domain: "a.example.com" } });
    const endpoints = async () => (await running.call("GET", `${projects}/${one.id}/endpoints`)).body.endpoints;
    const own = await endpoints();
    const activated = await running.operator("activate-domain", { projectId: one.id, domain: "www.example.com" });
    expect(activated.domain).toMatchObject({ projectId: one.id, name: "www.example.com", status: "active" });
    expect(await endpoints()).toEqual([...own, "https://www.example.com"]);
    const listed = (await running.call("GET", domains(one.id))).body.domains;
    expect(listed).toMatchObject([
      { domain: "www.example.com", status: "active", createdAt: added.body.domain.createdAt },
      { domain: "a.example.com", status: "pending" },
    ]);
    const removed = await running.call("DELETE", `${domains(one.id)}/www.example.com`);
    expect([removed.status, removed.body]).toEqual([200, { domain: "www.example.com" }]);
    expect(await endpoints()).toEqual(own);
    expect((await running.call("DELETE", `${domains(one.id)}/www.example.com`)).status).toBe(404);
    expect((await running.call("POST", domains(other.id), { body: { domain: "www.example.com" } })).status).toBe(201);
    expect((await running.call("DELETE", `${domains(one.id)}/www.example.com`)).status).toBe(404);
  });

  test.each([
    "",
    "localhost",
    "*.example.com",
    "example.com:80",
    "example.com/x",
    "-a.example.com",
    "a-.example.com",
    "a..com",
    "example.com.",
    "ex ample.com",
    " example.com",
    "münchen.de",
    "1.2.3.4",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(126)}abc`,
    1,
  ])("%j is no host name", async (domain) => {
    const answer = await running.call("POST", `${running.project}/domains`, { body: { domain } });
    expect(answer).toMatchObject({ status: 400, body: { issues: [{ path: "domain" }] } });
  });

  test("a project has at most ten, and a domain belongs to one project, also with requests at the same time", async () => {
    const found = await times(3, (index) => made(`Domains ${index}`));
    const add = (id: string, domain: string) => running.call("POST", `${projects}/${id}/domains`, { body: { domain } });
    const [first] = found;
    const many = await times(40, (index) => add(first.id, `x${index}.example.org`));
    expect(many.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(many.filter(({ status, body }) => status === 409 && body.code === "limit_reached")).toHaveLength(30);
    const raced = await Promise.all(
      found.slice(1).flatMap(({ id }) => [add(id, "raced.example.org"), add(id, "raced.example.org")]),
    );
    expect(raced.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  });
});

describe("databases and storages", () => {
  test.each([
    ["databases", "database", "First database"],
    ["storages", "storage", "First storage"],
  ])("%s are made, listed oldest first and renamed, at most 50", async (kind, one, seeded) => {
    const list = `${organization}/${kind}`;
    const created = await running.call("POST", list, { body: { name: " Second " } });
    const { [one]: second } = created.body;
    expect([created.status, second]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "Second",
        status: "active",
        createdAt: expect.any(String),
        updatedAt: second.createdAt,
      },
    ]);
    const listed = (await running.call("GET", list)).body[kind];
    expect(listed.map(({ name }: { name: string }) => name)).toEqual([seeded, "Second"]);
    const renamed = await running.call("PUT", `${list}/${second.id}`, { body: { name: "Renamed" } });
    expect(renamed.body[one]).toMatchObject({ id: second.id, name: "Renamed", createdAt: second.createdAt });
    expect((await running.call("GET", list)).body[kind][1]).toEqual(renamed.body[one]);
    expect((await running.call("PUT", `${list}/${second.id}`, { body: {} })).status).toBe(400);
    const more = await times(52, () => running.call("POST", list, { body: { name: "More" } }));
    expect(more.filter(({ status }) => status === 201)).toHaveLength(48);
    expect(new Set(more.filter(({ status }) => status !== 201).map(({ body }) => body.code))).toEqual(
      new Set(["limit_reached"]),
    );
    expect((await running.call("GET", list)).body[kind]).toHaveLength(50);
  });
});

test("an organization has at most 500 projects", async () => {
  const { organization: full } = await running.operator("create-organization", { name: "Full" });
  const organizationId = String(full?.id);
  const { project } = await running.operator("create-project", { organizationId, name: "First" });
  const { credential } = await running.operator("create-credential", { projectId: project?.id });
  const bearer = `${credential?.access}:${credential?.secret}`;
  const table = await directly();
  await table.set({ pk: `ORG#${organizationId}`, sk: "TOTALS", projects: 497 });
  const answers = await times(6, () =>
    running.call("POST", `/organizations/${organizationId}/projects`, { body: { name: "More" }, bearer }),
  );
  table.close();
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  expect(answers.filter(({ status, body }) => status === 409 && body.code === "limit_reached")).toHaveLength(3);
});

/** The service's table, past the service. */
async function directly() {
  const { DynamoDBClient } = await import("@aws-sdk/client-dynamodb");
  const { DynamoDBDocumentClient, PutCommand } = await import("@aws-sdk/lib-dynamodb");
  const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  return {
    set: (Item: Record<string, unknown>) => table.send(new PutCommand({ TableName: "slipway", Item })),
    close: () => table.destroy(),
  };
}
