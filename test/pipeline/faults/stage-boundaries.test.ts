import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, deploy, finished, nodeApp, upload, zipOf } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { type EcsGate, openEcsGate } from "./ecs-gate.ts";
import { changeOf, openGate } from "./table-writes.ts";

const crashes = nodeApp("", "process.exit(1);");

// Less than a minute, after which reconcile-locks could repair what a step has missed.
describe("at a boundary between two stages", { timeout: 50_000 }, () => {
  let ecs: EcsGate;
  let guarded: Guarded;
  let project: Running;
  let live: string;

  beforeAll(async () => {
    ecs = await openEcsGate();
    process.env.AWS_ENDPOINT_URL_ECS = ecs.endpoint;
    guarded = await startGuarded();
    ecs.target = process.env.AWS_ENDPOINT_URL ?? "";
    project = await guarded.newProject();
    const build = await deploy(project, nodeApp('res.end("before")'));
    expect(build).toMatchObject({ status: "ready", isLive: true });
    live = build.id;
  }, 60_000);
  afterAll(async () => {
    delete process.env.AWS_ENDPOINT_URL_ECS;
    await guarded.stop();
    await ecs.close();
  });
  beforeEach(() => () => {
    guarded.gate.before = undefined;
    guarded.gate.answered = undefined;
    ecs.rewrite = undefined;
  });

  const read = async (id: string): Promise<Answer["body"]> =>
    (await project.call("GET", `${project.project}/builds/${id}`)).body.build;

  async function create(files: Record<string, string>): Promise<{ id: string; send(): Promise<unknown> }> {
    const bytes = await zipOf(files);
    const { status, body } = await project.call("POST", `${project.project}/builds`);
    expect(status).toBe(201);
    return { id: body.build.id, send: () => upload(body.url, bytes) };
  }

  /** Calls this with the build's row just before the first write with this change is forwarded. */
  function justBefore(change: string, act: () => Promise<unknown>): void {
    let isDone = false;
    guarded.gate.before = async (call) => {
      if (isDone || changeOf(call) !== change) return undefined;
      isDone = true;
      await act();
      return undefined;
    };
  }

  async function stillServes(): Promise<void> {
    expect(await (await fetch(await address(project))).text()).toBe("before");
    expect(await guarded.broken()).toEqual([]);
  }

  test("a rollback says at once what is live again, whatever was read during the swap", async () => {
    const { id, send } = await create(crashes);
    // The cache row of a list that was read while ECS named the new version first.
    justBefore("error", () =>
      guarded.direct.put({
        pk: `PRJ#${project.seed.projectId}`,
        sk: "LIVE",
        buildId: id,
        readAt: new Date().toISOString(),
      }),
    );
    await send();
    expect(await finished(project, id)).toMatchObject({ status: "error", isLive: false });
    expect(await read(live)).toMatchObject({ status: "ready", isLive: true });
    await stillServes();
  });

  test("a build that is canceled before it is built keeps what its analysis found", async () => {
    const { id, send } = await create({
      ...nodeApp("fetch('http://localhost:5000/api'); res.end()"),
      ".node-version": "24",
    });
    let canceled: Answer | undefined;
    justBefore("building", async () => {
      canceled = await project.call("POST", `${project.project}/builds/${id}/cancel`);
    });
    await send();
    await vi.waitFor(async () => expect((await read(id)).runtime).not.toBeNull(), { timeout: 30_000, interval: 20 });
    expect(canceled).toMatchObject({ status: 200, body: { build: { status: "analyzing", runtime: null } } });
    expect(await read(id)).toMatchObject({
      status: "analyzing",
      canceledAt: canceled?.body.build.canceledAt,
      runtime: "nodejs24.x",
      suggestion: expect.stringContaining("localhost"),
      findings: [{ file: "server.js" }],
    });
    await stillServes();
  });

  test("a version that answered, and that ECS then takes back, is not ready", async () => {
    const continued: string[] = [];
    ecs.rewrite = (operation, body) => {
      if (operation !== "ContinueServiceDeployment") return body;
      continued.push(JSON.parse(body).action);
      return JSON.stringify({ ...JSON.parse(body), action: "ROLLBACK" });
    };
    const { id, send } = await create(nodeApp('res.end("taken back")'));
    await send();
    const build = await finished(project, id);
    expect(continued[0]).toBe("CONTINUE");
    expect(build).toMatchObject({ status: "error", isLive: false });
    expect(await read(live)).toMatchObject({ status: "ready", isLive: true });
    await stillServes();
  });

  test("an upload that lands just before the token is stored is found", async () => {
    const created = Promise.withResolvers<Awaited<ReturnType<typeof create>>>();
    const eventRead = openGate();
    justBefore("token", async () => {
      const { id, send } = await created.promise;
      guarded.gate.answered = ({ operation, body }) => {
        if (operation === "BatchGetItem" && body.includes(id)) eventRead.open();
      };
      await send();
      await eventRead.opened;
    });
    const { id, send } = await create({});
    created.resolve({ id, send });
    // The upload's event has found no token and is not sent again. Polls read the build too, so they wait for it.
    await eventRead.opened;
    expect(await finished(project, id)).toMatchObject({ status: "error", size: expect.any(Number) });
    await stillServes();
  });
});
