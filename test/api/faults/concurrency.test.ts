import { BatchWriteItemCommand, DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../../lambdas/table/ids.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type Guarded, startGuarded } from "./guarded-service.ts";

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const withStatus = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status);

describe("fifty requests at once", () => {
  let guarded: Guarded;
  let project: Running;
  beforeAll(async () => {
    guarded = await startGuarded();
    project = await guarded.newProject();
  });
  afterAll(() => guarded.stop());

  const tableClient = () =>
    new DynamoDBClient({
      endpoint: guarded.database,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });

  test("create one build: one 201, and 49 × 409 that name it", async () => {
    const answers = await Promise.all(times(50, () => project.call("POST", `${project.project}/builds`)));
    const [created] = withStatus(answers, 201);
    expect(withStatus(answers, 201)).toHaveLength(1);
    const refused = withStatus(answers, 409);
    expect(refused).toHaveLength(49);
    const { id, status, createdAt } = created?.body.build ?? {};
    for (const { body } of refused)
      expect(body).toMatchObject({ status: "Conflict", build: { id, status, createdAt } });
    expect(await guarded.broken()).toEqual([]);
    const canceled = await project.call("POST", `${project.project}/builds/${id}/cancel`);
    expect(canceled.status).toBe(200);
    expect(await guarded.broken()).toEqual([]);
  });

  test("cancel one build: all answer 200 with the same instant, and the next project's lock is left alone", async () => {
    const first = await project.call("POST", `${project.project}/builds`);
    const path = `${project.project}/builds/${first.body.build.id}/cancel`;
    const answers = await Promise.all(times(50, () => project.call("POST", path)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.build?.canceledAt}`)).size).toBe(1);
    const next = await project.call("POST", `${project.project}/builds`);
    expect(next.status).toBe(201);
    await Promise.all(times(20, () => project.call("POST", path)));
    expect((await project.call("POST", `${project.project}/builds`)).body.build.id).toBe(next.body.build.id);
    expect(await guarded.broken()).toEqual([]);
    await project.call("POST", `${project.project}/builds/${next.body.build.id}/cancel`);
  });

  test("create and cancel over and over: never two builds at once, never a lock without its build", async () => {
    const created: string[] = [];
    await Promise.all(
      times(12, async () => {
        for (let turn = 0; turn < 6; turn += 1) {
          const answer = await project.call("POST", `${project.project}/builds`);
          if (answer.status !== 201) continue;
          created.push(answer.body.build.id);
          const canceled = await project.call("POST", `${project.project}/builds/${answer.body.build.id}/cancel`);
          expect(canceled.status).toBe(200);
        }
      }),
    );
    expect(created.length).toBeGreaterThan(1);
    expect(await guarded.broken()).toEqual([]);
    expect((await guarded.direct.rows()).filter(({ sk }) => sk === "LOCK")).toEqual([]);
  });

  test("create credentials: three 201, and 47 × 409 that list what the project holds", async () => {
    const answers = await Promise.all(times(50, () => project.call("POST", `${project.project}/credentials`)));
    const created = withStatus(answers, 201);
    expect(created).toHaveLength(3);
    const ids = created.map(({ body }) => body.credential.id).sort((one, other) => one - other);
    expect(new Set(ids).size).toBe(3);
    expect(ids.every(Number.isInteger)).toBe(true);
    const refused = withStatus(answers, 409);
    expect(refused).toHaveLength(47);
    for (const { body } of refused) {
      expect(body.code).toBe("credential_limit");
      expect(body.credentials.map(({ id }: { id: number }) => id)).toEqual(ids);
      expect(JSON.stringify(body)).not.toContain("sls_");
    }
    expect(await guarded.broken()).toEqual([]);
  });

  test("create credentials when three are held since long: all 409", async () => {
    const { body } = await project.call("GET", `${project.project}/credentials`);
    expect(body.credentials).toHaveLength(3);
    // Simulates old keys, so that a new id would be free.
    const key = marshall({ pk: `PRJ#${project.seed.projectId}`, sk: "KEYS" });
    const client = tableClient();
    await client.send(
      new UpdateItemCommand({
        TableName: "slipway",
        Key: key,
        UpdateExpression: "SET lastId = :one",
        ExpressionAttributeValues: marshall({ ":one": 1 }),
      }),
    );
    client.destroy();
    const answers = await Promise.all(times(20, () => project.call("POST", `${project.project}/credentials`)));
    expect(withStatus(answers, 409)).toHaveLength(20);
    expect(await guarded.broken()).toEqual([]);
  });

  test("delete and create credentials: each is deleted once, and never are there more than three", async () => {
    const { body } = await project.call("GET", `${project.project}/credentials`);
    const deleted = await Promise.all(
      body.credentials.flatMap(({ id }: { id: number }) =>
        times(8, () => project.call("DELETE", `${project.project}/credentials/${id}`)),
      ),
    );
    expect(withStatus(deleted, 200)).toHaveLength(3);
    expect(withStatus(deleted, 404)).toHaveLength(21);
    const mixed = await Promise.all(
      times(30, async () => {
        const made = await project.call("POST", `${project.project}/credentials`);
        return made.status === 201
          ? project.call("DELETE", `${project.project}/credentials/${made.body.credential.id}`)
          : made;
      }),
    );
    expect(mixed.every(({ status }) => [200, 409].includes(status))).toBe(true);
    expect(await guarded.broken()).toEqual([]);
  });

  test("create one variable: one 201, and 49 × 409", async () => {
    const answers = await Promise.all(
      times(50, (index) =>
        project.call("POST", `${project.project}/environments`, { body: { name: "ONLY", value: String(index) } }),
      ),
    );
    expect(withStatus(answers, 201)).toHaveLength(1);
    const refused = withStatus(answers, 409);
    expect(refused).toHaveLength(49);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(["name_taken"]));
    expect(await guarded.broken()).toEqual([]);
  });

  test("rename, change and delete variables: names, rows and count agree", async () => {
    const { body } = await project.call("GET", `${project.project}/environments`);
    const { id } = body.environments[0];
    const path = `${project.project}/environments/${id}`;
    const same = await Promise.all(times(12, () => project.call("PUT", path, { body: { name: "RENAMED" } })));
    expect(withStatus(same, 200)).toHaveLength(12);
    await Promise.all([
      ...times(10, (index) => project.call("PUT", path, { body: { name: `NAME_${index % 3}` } })),
      ...times(6, (index) =>
        project.call("POST", `${project.project}/environments`, { body: { name: `NAME_${index % 3}`, value: "" } }),
      ),
      ...times(3, () => project.call("DELETE", path)),
    ]);
    expect(await guarded.broken()).toEqual([]);
  });

  test("two changes of different fields of one variable are both kept", async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const made = await project.call("POST", `${project.project}/environments`, {
        body: { name: `BOTH_${turn}`, value: "old" },
      });
      const path = `${project.project}/environments/${made.body.environment.id}`;
      const [renamed, changed] = await Promise.all([
        project.call("PUT", path, { body: { name: `NEW_${turn}` } }),
        project.call("PUT", path, { body: { value: "new" } }),
      ]);
      expect([renamed.status, changed.status]).toEqual([200, 200]);
      const { body } = await project.call("GET", `${project.project}/environments`);
      expect(body.environments.find((one: { id: string }) => one.id === made.body.environment.id)).toMatchObject({
        name: `NEW_${turn}`,
        value: "new",
      });
    }
  });

  test("a database that is renamed while it is deleted stays, because the deletion confirms its former name", async () => {
    const list = `/organizations/${guarded.running.seed.organizationId}/databases`;
    const { id } = (await project.call("POST", list, { body: { name: "Doomed" } })).body.database;
    guarded.gate.before = async ({ operation, body }) => {
      if (operation !== "TransactWriteItems" || !body.includes(id)) return undefined;
      guarded.gate.before = undefined;
      expect((await project.call("PUT", `${list}/${id}`, { body: { name: "Renamed" } })).status).toBe(200);
      return undefined;
    };
    const refused = await project.call("DELETE", `${list}/${id}?confirm=Doomed`);
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_request"]);
    expect((await project.call("DELETE", `${list}/${id}?confirm=Renamed`)).status).toBe(200);
  });

  test("the 501st variable is refused, however many are sent at once", { timeout: 40_000 }, async () => {
    const full = await guarded.newProject();
    const pk = `PRJ#${full.project.split("/").at(-1)}`;
    const client = tableClient();
    const at = new Date().toISOString();
    const seeded = times(495, (index) => {
      const id = newId("env", new Date());
      const name = `SEEDED_${index}`;
      return [
        { pk, sk: `ENV#${id}`, id, name, value: "x", createdAt: at, updatedAt: at },
        { pk, sk: `ENVNAME#${name}`, id },
      ];
    }).flat();
    for (let from = 0; from < seeded.length; from += 25) {
      const puts = seeded.slice(from, from + 25).map((item) => ({ PutRequest: { Item: marshall(item) } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { slipway: puts } }));
    }
    await client.send(new PutItemCommand({ TableName: "slipway", Item: marshall({ pk, sk: "ENVCOUNT", count: 495 }) }));
    client.destroy();
    const answers = await Promise.all(
      times(40, (index) =>
        full.call("POST", `${full.project}/environments`, { body: { name: `MORE_${index}`, value: "" } }),
      ),
    );
    expect(withStatus(answers, 201)).toHaveLength(5);
    const refused = withStatus(answers, 409);
    expect(refused).toHaveLength(35);
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(["limit_reached"]));
    expect(await guarded.broken()).toEqual([]);
    const { body } = await full.call("GET", `${full.project}/environments`);
    expect(body.environments).toHaveLength(500);
  });
});
