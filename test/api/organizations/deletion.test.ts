import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CloudWatchLogsClient, DescribeLogStreamsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DescribeServicesCommand, ECSClient, ListTaskDefinitionsCommand } from "@aws-sdk/client-ecs";
import { ListObjectsV2Command, ListObjectVersionsCommand, S3Client } from "@aws-sdk/client-s3";
import { DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseRunner } from "../../../lambdas/aws/databases.ts";
import { begin, deploy, nodeApp } from "../../harness/app.ts";
import { callAt, type Running, startRunning } from "../../harness/service.ts";

let running: Running;
let organization: string;
let table: DynamoDBDocumentClient;

beforeAll(async () => {
  running = await startRunning();
  // Read when the first deletion loads its tools.
  process.env.REMOVAL_SETTLE_SECONDS = "1";
  organization = `/organizations/${running.seed.organizationId}`;
  table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
});
afterAll(async () => {
  table.destroy();
  await running.stop();
});

async function aProject(name = "Doomed"): Promise<Running & { id: string }> {
  const { body } = await running.call("POST", `${organization}/projects`, { body: { name } });
  const { id } = body.project;
  return { ...running, id, project: `${organization}/projects/${id}` };
}
const remove = (path: string, confirm = "Doomed") => running.call("DELETE", `${path}?confirm=${confirm}`);

async function rowsIn(pk: string): Promise<string[]> {
  const query = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": pk }, ConsistentRead: true };
  const { Items = [] } = await table.send(new QueryCommand({ TableName: "slipway", ...query }));
  return Items.map(({ sk }) => String(sk));
}

/** Waits until the last step of a removal has deleted its row. */
async function removed(id: string): Promise<void> {
  while ((await rowsIn(`DEL#${id}`)).length > 0) await sleep(100);
}

async function archivesOf(id: string): Promise<number> {
  const s3 = new S3Client({ forcePathStyle: true });
  const { organizationId } = running.seed;
  const command = new ListObjectVersionsCommand({
    Bucket: "slipway-archives",
    Prefix: `archives/${organizationId}/${id}/`,
  });
  const { Versions = [] } = await s3.send(command);
  s3.destroy();
  return Versions.length;
}

/** How much of a project is left beside its rows and archives; `buildOutput` counts the streams of all projects. */
async function traces(id: string) {
  const [s3, logs] = [new S3Client({ forcePathStyle: true }), new CloudWatchLogsClient({})];
  const values = await s3.send(new ListObjectsV2Command({ Bucket: "slipway-artifacts", Prefix: `values/${id}/` }));
  const streams = async (logGroupName: string, logStreamNamePrefix?: string) => {
    const { logStreams = [] } = await logs.send(new DescribeLogStreamsCommand({ logGroupName, logStreamNamePrefix }));
    return logStreams.length;
  };
  const found = {
    images: readdirSync(join(running.home, "images")).length,
    values: values.KeyCount,
    appOutput: await streams("/slipway/apps", `${id}/`),
    buildOutput: await streams("/slipway/builds"),
  };
  s3.destroy();
  logs.destroy();
  return found;
}

/** How many task definitions are registered for the builds of all projects. */
async function definitions(): Promise<number> {
  const ecs = new ECSClient({});
  const listed = (["ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"] as const).map(async (status) => {
    const { taskDefinitionArns = [] } = await ecs.send(new ListTaskDefinitionsCommand({ status }));
    return taskDefinitionArns.length;
  });
  const counts = await Promise.all(listed);
  ecs.destroy();
  return counts.reduce((sum, count) => sum + count);
}

describe("deleting a project", () => {
  test("takes its name: anything else is a 400 and deletes nothing", async () => {
    const { project } = await aProject();
    for (const query of ["", "?confirm=", "?confirm=doomed", "?confirm=Doomed%20"]) {
      const answer = await running.call("DELETE", `${project}${query}`);
      expect(answer).toMatchObject({ status: 400, body: { issues: [{ path: "confirm" }] } });
    }
    expect((await running.call("GET", project)).status).toBe(200);
  });

  test("ends everything of it at once, and removes the rest after the response", { timeout: 60_000 }, async () => {
    const doomed = await aProject();
    const { project, id } = doomed;
    const { credential } = (await running.call("POST", `${project}/credentials`)).body;
    const bearer = `${credential.access}:${credential.secret}`;
    const { credential: operators } = await running.operator("create-credential", { projectId: id });
    await running.call("POST", `${project}/environments`, { body: { name: "A", value: "b" } });
    await running.call("PUT", project, { body: { settings: { releaseCommand: "true" } } });
    await running.call("POST", `${project}/domains`, { body: { domain: "doomed.example.com" } });
    expect((await deploy(doomed, nodeApp('res.end("alive")'))).status).toBe("ready");
    const [address] = (await running.call("GET", `${project}/endpoints`)).body.endpoints;
    expect(await (await fetch(address)).text()).toBe("alive");
    const { build } = (await running.call("POST", `${project}/builds`)).body;
    expect(await archivesOf(id)).toBeGreaterThan(0);
    expect(await traces(id)).toEqual({ images: 1, values: 1, appOutput: 1, buildOutput: 1 });
    // Of the build and of its release command.
    expect(await definitions()).toBe(2);

    const answer = await remove(project);
    expect([answer.status, answer.body]).toEqual([200, { project: id }]);
    expect(
      await fetch(address).then(
        ({ status }) => status,
        () => 503,
      ),
    ).toBeGreaterThanOrEqual(500);
    expect((await running.call("GET", "/ping", { bearer })).status).toBe(401);
    for (const path of ["", "/builds", `/builds/${build.id}`, "/environments", "/domains", "/endpoints"]) {
      expect([path, (await running.call("GET", project + path)).status]).toEqual([path, 404]);
    }
    expect((await running.call("POST", `${project}/builds`)).status).toBe(404);
    expect((await remove(project)).status).toBe(404);
    const { projects } = (await running.call("GET", `${organization}/projects`)).body;
    expect(projects.map((one: { id: string }) => one.id)).not.toContain(id);
    const taken = await running.call("POST", `${running.project}/domains`, { body: { domain: "doomed.example.com" } });
    expect(taken.status).toBe(201);
    // The operator's key belongs to the organization.
    const key = `${operators?.access}:${operators?.secret}`;
    expect((await callAt(running.seed.baseUrl, key, "GET", "/ping")).status).toBe(200);

    await removed(id);
    expect(await rowsIn(`PRJ#${id}`)).toEqual([]);
    expect(await archivesOf(id)).toBe(0);
    expect(await traces(id)).toEqual({ images: 0, values: 0, appOutput: 0, buildOutput: 0 });
    expect(await definitions()).toBe(0);
  });

  test("is raced with builds: none survives it", { timeout: 60_000 }, async () => {
    for (let round = 0; round < 3; round += 1) {
      const doomed = await aProject();
      const [deleted, created] = await Promise.all([
        remove(doomed.project),
        running.call("POST", `${doomed.project}/builds`),
      ]);
      expect(deleted.status).toBe(200);
      expect([201, 404]).toContain(created.status);
      await removed(doomed.id);
      expect(await rowsIn(`PRJ#${doomed.id}`)).toEqual([]);
    }
  });

  test.each(["analyzing", "building", "deploying"])("ends a build that is %s", { timeout: 60_000 }, async (stage) => {
    const doomed = await aProject();
    const id = await begin(doomed, nodeApp('res.end("never")'));
    const read = async () => (await running.call("GET", `${doomed.project}/builds/${id}`)).body.build;
    const order = ["pending", "analyzing", "building", "deploying", "ready"];
    while (order.indexOf((await read()).status) < order.indexOf(stage)) await sleep(20);
    expect((await remove(doomed.project)).status).toBe(200);
    await removed(doomed.id);
    expect(await rowsIn(`PRJ#${doomed.id}`)).toEqual([]);
    expect(await archivesOf(doomed.id)).toBe(0);
    const ecs = new ECSClient({});
    const services = [`app-${doomed.id.replace("_", "-")}`];
    const { services: found = [] } = await ecs.send(new DescribeServicesCommand({ cluster: "slipway", services }));
    ecs.destroy();
    expect(found.filter(({ status }) => status === "ACTIVE")).toEqual([]);
  });
});

test("deleting a database drops its tables and its role", { timeout: 120_000 }, async () => {
  const { database } = (await running.call("POST", `${organization}/databases`, { body: { name: "Doomed" } })).body;
  const path = `${organization}/databases/${database.id}`;
  const columns = [{ name: "title", type: "string" }];
  const made = await running.call("POST", `${path}/tables`, { body: { name: "things", columns } });
  expect(made.status).toBe(201);
  expect((await remove(path, "doomed")).status).toBe(400);
  expect((await running.call("GET", `${path}/tables`)).body.tables).toHaveLength(1);
  expect((await remove(path)).body).toEqual({ database: database.id });
  expect((await running.call("GET", `${path}/tables`)).status).toBe(404);
  expect((await remove(path)).status).toBe(404);
  await removed(database.id);
  const env = process.env as Record<"DATABASE_ARN" | "DATABASE_SECRET_ARN" | "DATABASE_WAIT_SECONDS", string>;
  const sql = `select cast((select count(*) from pg_namespace where nspname = '${database.id}')
    + (select count(*) from pg_roles where rolname = '${database.id}') as integer) as left`;
  expect(await databaseRunner(env).run({ sql, values: [] }, Date.now() + 60_000)).toEqual([{ left: 0 }]);
});

describe("deleting a storage", () => {
  const wanted = { files: [{ name: "a", mime: "text/plain" }] };
  const aStorage = async () => {
    const { body } = await running.call("POST", `${organization}/storages`, { body: { name: "Doomed" } });
    return `${organization}/storages/${body.storage.id}`;
  };

  test("is refused while it holds a file of any status, and then final", async () => {
    const path = await aStorage();
    const { files } = (await running.call("POST", `${path}/files`, { body: wanted })).body;
    expect((await remove(path, "other")).status).toBe(400);
    expect(await remove(path)).toMatchObject({ status: 409, body: { code: "storage_not_empty" } });
    // A refused deletion leaves no trace.
    expect((await running.call("POST", `${path}/files`, { body: wanted })).status).toBe(201);
    for (const { id } of (await running.call("GET", `${path}/files`)).body.files) {
      expect((await running.call("DELETE", `${path}/files/${id}`)).status).toBe(200);
    }
    expect(files).toHaveLength(1);
    expect((await remove(path)).status).toBe(200);
    expect((await running.call("GET", `${path}/files`)).status).toBe(404);
    expect((await remove(path)).status).toBe(404);
  });

  test("is raced with new files: either they are there, or the storage is gone", async () => {
    for (let round = 0; round < 6; round += 1) {
      const path = await aStorage();
      const many = { files: Array.from({ length: round % 2 === 0 ? 1 : 100 }, () => wanted.files[0]) };
      const [deleted, created] = await Promise.all([
        remove(path),
        running.call("POST", `${path}/files`, { body: many }),
      ]);
      expect([200, 409]).toContain(deleted.status);
      const { status } = await running.call("GET", `${path}/files`);
      if (deleted.status === 200) expect([created.status === 201, status]).toEqual([false, 404]);
      else expect([created.status, status]).toEqual([201, 200]);
    }
  });
});
