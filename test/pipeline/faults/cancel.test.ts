import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, deploy, finished, nodeApp, upload, zipOf } from "../../harness/app.ts";
import type { Answer, Running } from "../../harness/service.ts";
import { changeOf, openGate } from "./table-writes.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);

describe("cancel against the stages of a build", () => {
  let guarded: Guarded;
  let project: Running;
  /** Broken rules of the table that were seen after any single write. */
  let torn: string[] = [];

  beforeAll(async () => {
    guarded = await startGuarded();
    project = await guarded.newProject();
    expect((await deploy(project, says("before"))).status).toBe("ready");
    guarded.gate.after = async ({ operation }) => {
      if (operation === "TransactWriteItems") torn.push(...(await guarded.broken(project)));
    };
  }, 60_000);
  afterAll(() => guarded.stop());
  beforeEach(() => {
    torn = [];
    guarded.gate.before = undefined;
    guarded.gate.answered = undefined;
  });

  const cancel = (id: string): Promise<Answer> => project.call("POST", `${project.project}/builds/${id}/cancel`);
  const read = async (id: string): Promise<Answer["body"]> =>
    (await project.call("GET", `${project.project}/builds/${id}`)).body.build;
  const create = async (): Promise<{ id: string; url: string }> => {
    const created = await project.call("POST", `${project.project}/builds`);
    expect(created.status).toBe(201);
    return { id: created.body.build.id, url: created.body.url };
  };

  /** Resolves when there were no calls to the table for 400 ms. */
  async function rest(): Promise<void> {
    for (let seen = -1; seen !== guarded.gate.calls.length; ) {
      seen = guarded.gate.calls.length;
      await sleep(400);
    }
  }

  /** Expects that the canceled build keeps its status, that the next build keeps the lock, and that the old version still serves. */
  async function staysCanceled(id: string, status: string, canceledAt: string): Promise<void> {
    const next = await create();
    // What already runs may still end the build.
    await expect.poll(() => read(id)).toMatchObject({ status, canceledAt, isLive: false });
    await rest();
    expect(await read(id)).toMatchObject({ status, canceledAt, isLive: false });
    expect((await cancel(id)).body.build).toMatchObject({ status, canceledAt });
    expect((await project.call("POST", `${project.project}/builds`)).body.build.id).toBe(next.id);
    expect((await cancel(next.id)).status).toBe(200);
    expect(await (await fetch(await address(project))).text()).toBe("before");
    expect(torn).toEqual([]);
    expect(await guarded.broken()).toEqual([]);
  }

  /** Holds the writes of this kind until `release`; `reached` resolves at the first one. */
  function hold(write: string) {
    const reached = openGate();
    const released = openGate();
    guarded.gate.before = async (call) => {
      if (changeOf(call) !== write) return undefined;
      reached.open();
      await released.opened;
      return undefined;
    };
    return { reached: reached.opened, release: released.open };
  }

  /** Delays this write until a cancel has arrived too, and lets the write reach the table first. */
  function overtake(write: string) {
    const reached = openGate();
    const cancelWaits = openGate();
    const written = openGate();
    guarded.gate.before = async (call) => {
      const change = changeOf(call);
      if (change === write) {
        reached.open();
        await cancelWaits.opened;
      }
      if (change === "canceled") {
        cancelWaits.open();
        await written.opened;
      }
      return undefined;
    };
    guarded.gate.answered = (call) => {
      if (changeOf(call) === write) written.open();
    };
    return { reached: reached.opened };
  }

  const stages = [
    { write: "token", from: "pending", after: ["pending", "analyzing", "building"] },
    { write: "analyzing", from: "pending", after: ["analyzing", "building"] },
    { write: "building", from: "analyzing", after: ["building"] },
  ];
  test.each([...stages, { write: "deploying", from: "building" }])(
    "that comes just before the write of “$write” wins, and the build stops at $from",
    async ({ write, from }) => {
      const { reached, release } = hold(write);
      const { id, url } = await create();
      await upload(url, await zipOf(says(write)));
      await reached;
      const answer = await cancel(id);
      expect(answer).toMatchObject({ status: 200, body: { build: { status: from } } });
      release();
      await staysCanceled(id, from, answer.body.build.canceledAt);
    },
  );

  test.each(stages)(
    "that comes just after the write of “$write” cancels the build in the next stage",
    async ({ write, after }) => {
      const { reached } = overtake(write);
      const { id, url } = await create();
      await upload(url, await zipOf(says(write)));
      await reached;
      const answer = await cancel(id);
      // The second attempt of the cancel races with the stages that follow.
      if (answer.status === 409) expect(["build_deploying", "build_finished"]).toContain(answer.body.code);
      else {
        expect(after).toContain(answer.body.build.status);
        return staysCanceled(id, answer.body.build.status, answer.body.build.canceledAt);
      }
      expect(await finished(project, id)).toMatchObject({ status: "ready", canceledAt: null });
      expect(torn).toEqual([]);
      expect((await deploy(project, says("before"))).status).toBe("ready");
    },
  );

  test("that comes just after the write of “deploying” is refused, and the build continues", async () => {
    const { reached } = overtake("deploying");
    const { id, url } = await create();
    await upload(url, await zipOf(says("before")));
    await reached;
    const refused = await cancel(id);
    expect(refused).toMatchObject({ status: 409, body: { status: "Conflict" } });
    expect(["build_deploying", "build_finished"]).toContain(refused.body.code);
    expect(await finished(project, id)).toMatchObject({ status: "ready", canceledAt: null, isLive: true });
    expect(torn).toEqual([]);
  });

  test.each([
    ["ready", says("before")],
    ["error", nodeApp("", "process.exit(1);")],
  ])("that comes just before the write of “%s” is refused", async (write, files) => {
    const { reached, release } = hold(write);
    const { id, url } = await create();
    await upload(url, await zipOf(files));
    await reached;
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: "build_deploying" } });
    release();
    expect(await finished(project, id)).toMatchObject({ status: write, canceledAt: null });
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: "build_finished" } });
    expect(torn).toEqual([]);
  });

  test("of a build whose analysis then fails: it ends as error, stays canceled, and does not release the next build's lock", async () => {
    const { reached, release } = hold("error");
    const { id, url } = await create();
    await upload(url, Buffer.from("this is no zip"));
    await reached;
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 200, body: { build: { status: "analyzing" } } });
    release();
    await staysCanceled(id, "error", answer.body.build.canceledAt);
  });

  test("at any moment: refused after the deployment has started, otherwise final", { timeout: 120_000 }, async () => {
    const stopped = new Map<string, number>();
    const everyMs = process.env.SLIPWAY_TESTS === "all" ? 25 : 70;
    for (let ms = 0; ms < 350; ms += everyMs) {
      const { id, url } = await create();
      const uploading = zipOf(says("before")).then((bytes) => upload(url, bytes));
      await sleep(ms);
      const answer = await cancel(id);
      const { status } = answer.status === 200 ? answer.body.build : { status: answer.body.code };
      stopped.set(status, (stopped.get(status) ?? 0) + 1);
      await uploading;
      if (answer.status === 200) await staysCanceled(id, status, answer.body.build.canceledAt);
      else {
        expect(await finished(project, id)).toMatchObject({ status: "ready", canceledAt: null, isLive: true });
      }
      expect(torn).toEqual([]);
    }
    process.stdout.write(`Canceled at ${JSON.stringify(Object.fromEntries(stopped))}\n`);
  });
});
