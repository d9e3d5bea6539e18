import { randomUUID } from "node:crypto";
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, type GetItemCommandInput } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { deploy, finished, nodeApp } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type EcsGate, openEcsGate } from "./ecs-gate.ts";

describe("the live build", () => {
  let guarded: Guarded;
  let ecs: EcsGate;
  let project: Running;
  let builds: string[];

  beforeAll(async () => {
    ecs = await openEcsGate();
    process.env.AWS_ENDPOINT_URL_ECS = ecs.endpoint;
    guarded = await startGuarded();
    ecs.target = process.env.AWS_ENDPOINT_URL ?? "";
    project = await guarded.newProject();
    builds = [];
    for (const text of ["one", "two", "three"]) {
      const build = await deploy(project, nodeApp(`res.end("${text}")`), text);
      expect(build).toMatchObject({ status: "ready", isLive: true });
      builds.push(build.id);
    }
  }, 60_000);
  afterAll(async () => {
    delete process.env.AWS_ENDPOINT_URL_ECS;
    ecs.fails = undefined;
    await guarded.stop();
    await ecs.close();
  });
  beforeEach(() => forgetLive());

  async function onTheLiveRow<T>(use: (client: DynamoDBClient, row: GetItemCommandInput) => Promise<T>): Promise<T> {
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const client = new DynamoDBClient({ endpoint: guarded.database, region: "us-east-1", credentials });
    const Key = marshall({ pk: `PRJ#${project.seed.projectId}`, sk: "LIVE" });
    return use(client, { TableName: "slipway", Key, ConsistentRead: true }).finally(() => client.destroy());
  }
  /** Deletes the shared cache row, as if it had expired. */
  const forgetLive = () =>
    onTheLiveRow((client, { TableName, Key }) => client.send(new DeleteItemCommand({ TableName, Key })));
  /** Waits for the cache row, which is written after the answer. */
  const untilRemembered = () =>
    onTheLiveRow((client, row) =>
      vi.waitFor(async () => expect((await client.send(new GetItemCommand(row))).Item).toBeDefined(), {
        timeout: 15_000,
      }),
    );
  const list = () => project.call("GET", `${project.project}/builds`);
  type Listed = { id: string; isLive: boolean; canRedeploy: boolean };
  const flags = (body: { builds: Listed[] }) => body.builds.map(({ isLive, canRedeploy }) => [isLive, canRedeploy]);

  test("is known: one build is live, the others can be redeployed", async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.redeployAvailability).toEqual({ status: "available" });
    expect(flags(body)).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
    await untilRemembered();
  });

  describe.each(["ThrottlingException", "closed", "silent"] as const)("cannot be read (%s)", (fails) => {
    let listed: Answer;
    let listedAfterMs: number;
    let read: Answer;
    let copied: Answer[];
    /** All requests at once, because each waits for ECS until its time-out. */
    beforeAll(async () => {
      await forgetLive();
      ecs.fails = fails;
      const began = performance.now();
      const listing = list().then((answer) => {
        listedAfterMs = performance.now() - began;
        return answer;
      });
      const paths = ["/rebuild", `/builds/${builds[0]}/redeploy`, `/builds/${builds[2]}/redeploy`];
      [listed, read, copied] = await Promise.all([
        listing,
        project.call("GET", `${project.project}/builds/${builds[2]}`),
        Promise.all(paths.map((path) => project.call("POST", `${project.project}${path}`))),
      ]);
    });
    afterAll(() => {
      ecs.fails = undefined;
    });

    test("a list answers 200 within seconds, reports the status as unavailable, and marks no build as live or redeployable", () => {
      const { status, body } = listed;
      expect(listedAfterMs).toBeLessThan(15_000);
      expect(status).toBe(200);
      expect(body.redeployAvailability).toEqual({ status: "temporarily_unavailable", retryAfter: expect.any(Number) });
      expect(body.builds).toHaveLength(3);
      expect(flags(body).flat()).not.toContain(true);
    });

    test("a build is read as not live", () => {
      const { status, body } = read;
      expect([status, body.build.status, body.build.isLive]).toEqual([200, "ready", false]);
    });

    test("rebuild and redeploy answer 503 with Retry-After and start nothing", async () => {
      for (const answer of copied) {
        expect(answer).toMatchObject({ status: 503, body: { status: "Service Unavailable", code: "live_unknown" } });
        expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      }
      expect(await guarded.broken()).toEqual([]);
    });
  });

  test("twenty concurrent rebuilds with one Idempotency-Key create one build", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => project.call("POST", `${project.project}/rebuild`, { headers })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.build?.id}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const rebuilt = await finished(project, answers[0]?.body.build.id);
    expect(rebuilt).toMatchObject({ status: "ready", title: "three", isLive: true });
    const again = await project.call("POST", `${project.project}/rebuild`, { headers });
    expect(again).toMatchObject({ status: 201, body: { build: { id: rebuilt.id, status: "pending" } } });
    expect(await guarded.broken()).toEqual([]);
  });
});
