import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newToken, secretHash } from "../../../lambdas/http/presented-credential.ts";
import { newId } from "../../../lambdas/table/ids.ts";
import { callAt, type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let table: DynamoDBDocumentClient;
const TableName = "slipway";

beforeAll(async () => {
  running = await startRunning();
  table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
});
afterAll(async () => {
  table.destroy();
  await running.stop();
});

const put = (pk: string, sk: string, row: object) =>
  table.send(new PutCommand({ TableName, Item: { pk, sk, ...row } }));
const get = async (pk: string, sk: string) =>
  (await table.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }))).Item;
const rowsOfTable = async () =>
  (await table.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items?.toSorted((a, b) =>
    `${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1,
  );

/** An organization with everything that the first version could make, as it wrote the rows. */
async function firstVersion(domain: string) {
  const now = new Date();
  const at = now.toISOString();
  const organizationId = newId("org", now);
  const ids = {
    owner: newId("usr", now),
    member: newId("usr", now),
    token: newId("tok", now),
    project: newId("prj", now),
    database: newId("dbs", now),
    storage: newId("sto", now),
  };
  const token = newToken(ids.owner, ids.token);
  const owned = { organizationId, secret: "s".repeat(32), createdAt: at };
  await Promise.all([
    put(`ORG#${organizationId}`, "ORG", { id: organizationId, name: "Early", createdAt: at }),
    ...(["owner", "member"] as const).flatMap((role) => {
      const id = ids[role];
      return [
        put(`USR#${id}`, "USR", { id, name: role, email: `${role}.${id}@Example.com`, createdAt: at }),
        put(`USR#${id}`, `MEM#${organizationId}`, { userId: id, organizationId, organizationName: "Early", role }),
      ];
    }),
    put(`USR#${ids.owner}`, `TOK#${ids.token}`, {
      id: ids.token,
      userId: ids.owner,
      hash: secretHash(token),
      description: "early",
      createdAt: at,
    }),
    put(`TOK#${ids.token}`, "TOK", { userId: ids.owner }),
    put(`PRJ#${ids.project}`, "PRJ", { id: ids.project, name: "App", ...owned }),
    put(`PRJ#${ids.project}`, "ADDR", { domains: { [domain]: "pending" }, revision: 1 }),
    put(`DBS#${ids.database}`, "DBS", { id: ids.database, name: "Data", ...owned }),
    put(`ORG#${organizationId}`, `STO#${ids.storage}`, {
      id: ids.storage,
      name: "Files",
      status: "active",
      updatedAt: at,
      ...owned,
    }),
  ]);
  const path = `/organizations/${organizationId}`;
  const call = (method: string, below = "", options: object = {}) =>
    callAt(running.seed.baseUrl, token, method, below.startsWith("/me/") ? below : `${path}${below}`, options);
  return { ...ids, organizationId, call, domain };
}
type Early = Awaited<ReturnType<typeof firstVersion>>;

const totals = async ({ organizationId }: Early) => {
  const { pk: _, sk: __, ...counts } = (await get(`ORG#${organizationId}`, "TOTALS")) ?? {};
  return counts;
};
const everything = { projects: 1, databases: 1, storages: 1, members: 2, owners: 1 };
const migrate = (input: object = {}) => running.operator("migrate", input);

test("what the first version made is listed, counted and unique after a migration, and a second one changes nothing", async () => {
  const early = await firstVersion("early.example.com");
  const rival = await firstVersion("early.example.com");
  const report = await migrate();
  // The domain belongs to the project that was looked at first; the other one is named.
  expect(report).toMatchObject({ changedMeanwhile: 0, next: null });
  const { projectId: domainOwner } = (await get("DOM#early.example.com", "DOM")) ?? {};
  const other = [early, rival].find(({ project }) => project !== domainOwner);
  expect([early.project, rival.project]).toContain(domainOwner);

  for (const one of [early, rival]) {
    const { projects } = (await one.call("GET", "/projects")).body;
    expect(projects).toMatchObject([{ id: one.project, name: "App", managers: null }]);
    const { databases } = (await one.call("GET", "/databases")).body;
    expect(databases).toMatchObject([{ id: one.database, status: "active" }]);
    expect((await one.call("GET", "/storages")).body.storages).toMatchObject([{ id: one.storage }]);
    const { members } = (await one.call("GET", "/members")).body;
    expect(new Set(members.map(({ id, role }: { id: string; role: string }) => `${id} ${role}`))).toEqual(
      new Set([`${one.owner} owner`, `${one.member} member`]),
    );
    expect((await one.call("GET", "/me/tokens")).body.tokens).toMatchObject([
      { id: one.token, access: "all", organizationIds: null, expiresAt: null },
    ]);
    expect(await totals(one)).toEqual(everything);
  }
  const invited = await early.call("POST", "/members", {
    body: { email: `owner.${rival.owner}@example.com`, role: "member" },
  });
  expect([invited.status, invited.body.invitation]).toEqual([201, null]);

  const before = await rowsOfTable();
  const again = await migrate();
  expect(again).toMatchObject({ changed: 0, changedMeanwhile: 0 });
  expect(again.conflicts).toEqual([
    `The domain early.example.com is listed by ${other?.project} and belongs to ${domainOwner}. Remove it from one of them.`,
  ]);
  expect(await rowsOfTable()).toEqual(before);
});

test("two migrations at once count everything once", async () => {
  const early = await firstVersion("twice.example.com");
  await Promise.all([migrate(), migrate(), migrate()]);
  expect(await totals(early)).toEqual(everything);
});

test("what is changed or deleted before the migration is counted right after it", async () => {
  const early = await firstVersion("before.example.com");
  const database = `/databases/${early.database}`;
  expect((await early.call("PUT", `/projects/${early.project}`, { body: { name: "Changed" } })).status).toBe(200);
  expect((await early.call("PUT", database, { body: { name: "Changed" } })).status).toBe(200);
  expect((await early.call("DELETE", `/storages/${early.storage}?confirm=Files`)).status).toBe(200);
  expect(await totals(early)).toEqual({});
  await migrate();
  const { storages: _, ...others } = everything;
  expect(await totals(early)).toEqual(others);
  expect((await early.call("GET", "/projects")).body.projects).toMatchObject([{ name: "Changed" }]);
  expect((await early.call("DELETE", `${database}?confirm=Changed`)).status).toBe(200);
  expect(await totals(early)).toEqual({ ...others, databases: 0 });
});

test("a table of many pages is migrated to its end; with onlyIfNeeded, a version that has already run does nothing", async () => {
  const now = new Date();
  const users = Array.from({ length: 60 }, () => newId("usr", now));
  const email = (id: string) => `${id}@example.com`;
  const createdAt = now.toISOString();
  await Promise.all(users.map((id) => put(`USR#${id}`, "USR", { id, name: "User", email: email(id), createdAt })));
  expect(await migrate({ onlyIfNeeded: true })).toEqual({
    rows: 0,
    changed: 0,
    changedMeanwhile: 0,
    conflicts: [],
    next: null,
  });
  expect(await migrate()).toMatchObject({ changed: 60 });
  for (const id of users) expect((await get(`EMAIL#${email(id)}`, "EMAIL"))?.id).toBe(id);
});
