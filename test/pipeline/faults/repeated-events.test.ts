import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, begin, deploy, finished, nodeApp, reaches } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";
import { invokeFunction } from "../../harness/signing.ts";
import { changeOf, openGate } from "./table-writes.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);

describe("events that are late, repeated or for a finished build", () => {
  let guarded: Guarded;
  let project: Running;
  beforeAll(async () => {
    guarded = await startGuarded();
  });
  afterAll(() => guarded.stop());
  beforeEach(async () => {
    guarded.gate.before = undefined;
    guarded.gate.after = undefined;
    project = await guarded.newProject();
  });

  /** Invokes a function of the service with an event; rejects with the function's error. */
  async function invoke(name: string, event: object): Promise<unknown> {
    return invokeFunction(project.home, name, event);
  }
  const deploymentOf = (buildId: string, source = "upload") => {
    const [, , organizationId, , projectId] = project.project.split("/");
    return { organizationId, projectId, buildId, source };
  };
  const died = (buildId: string) => ({ detail: { status: "FAILED", input: JSON.stringify(deploymentOf(buildId)) } });
  const read = async (id: string) => (await project.call("GET", `${project.project}/builds/${id}`)).body.build;
  const serves = async () => (await fetch(await address(project))).text();

  test("a canceled build keeps its status if its upload never arrives or its execution dies", async () => {
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await project.call("POST", `${project.project}/builds/${id}/cancel`);
    const canceled = await read(id);
    const timeout = { Error: "States.Timeout", Cause: "" };
    await invoke("fail-build", { deployment: deploymentOf(id), error: timeout });
    await invoke("execution-ended", died(id));
    await invoke("roll-back", { deployment: deploymentOf(id), reason: null, error: timeout });
    expect(await read(id)).toEqual(canceled);
    expect(canceled).toMatchObject({ status: "pending", error: null });
    expect(await guarded.broken()).toEqual([]);
  });

  test("a build whose upload never arrives ends with advice in its error and releases the project's lock", async () => {
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await invoke("fail-build", { deployment: deploymentOf(id), error: { Error: "States.Timeout", Cause: "" } });
    const build = await read(id);
    expect(build).toMatchObject({ status: "error", canceledAt: null });
    expect(build.error).toMatch(/No archive was uploaded within 1 hour/);
    expect((await project.call("POST", `${project.project}/builds`)).status).toBe(201);
    expect(await guarded.broken()).toEqual([]);
  });

  test("repeated events about the end of an execution end its build once and release the project's lock once", async () => {
    const first = await deploy(project, says("first"));
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await Promise.all([
      invoke("execution-ended", died(id)),
      invoke("execution-ended", died(id)),
      invoke("execution-ended", died(id)),
    ]);
    const ended = await read(id);
    expect(ended.status).toBe("error");
    const next = await project.call("POST", `${project.project}/builds`);
    expect(next.status).toBe(201);
    for (const over of [id, first.id]) await invoke("execution-ended", died(over));
    expect(await read(id)).toEqual(ended);
    expect(await read(first.id)).toMatchObject({ status: "ready", isLive: true });
    expect((await project.call("POST", `${project.project}/builds`)).body.build.id).toBe(next.body.build.id);
    expect(await guarded.broken()).toEqual([]);
  });

  test("a build whose execution died while it deployed is rolled back, and a late repeated event does not undo the next one", {
    timeout: 60_000,
  }, async () => {
    await deploy(project, says("first"));
    const finishing = openGate();
    const never = openGate();
    const readHeld = openGate();
    const readGoesOn = openGate();
    guarded.gate.before = async (call) => {
      if (changeOf(call) !== "ready" || never.isOpen()) return undefined;
      finishing.open();
      await never.opened;
      return undefined;
    };
    const interrupted = await begin(project, says("interrupted"));
    await finishing.opened;
    await reaches(project, interrupted, "deploying");

    // The late event has read the build as deploying; the answer of that read is held until the end.
    guarded.gate.after = async (call) => {
      const isRead =
        call.operation === "BatchGetItem" && call.body.includes(`BLD#${interrupted}`) && !call.body.includes("KEY#");
      if (!isRead || readHeld.isOpen()) return;
      readHeld.open();
      await readGoesOn.opened;
    };
    const late = invoke("execution-ended", died(interrupted));
    await readHeld.opened;
    await invoke("execution-ended", died(interrupted));
    expect(await finished(project, interrupted)).toMatchObject({ status: "error" });
    expect(await serves()).toBe("first");
    never.open();
    expect(await deploy(project, says("next"))).toMatchObject({ status: "ready", isLive: true });
    readGoesOn.open();
    await late;
    expect(await serves()).toBe("next");
    expect(await guarded.broken()).toEqual([]);
  });

  test("reconcile-locks starts the missing execution of a lock, and releases the lock of an ended one", async () => {
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await Promise.all([invoke("reconcile-locks", { all: true }), invoke("reconcile-locks", { all: true })]);
    expect(await read(id)).toMatchObject({ status: "pending", canceledAt: null });
    expect(await guarded.broken()).toEqual([]);
    expect((await project.call("POST", `${project.project}/builds/${id}/cancel`)).status).toBe(200);
    await invoke("reconcile-locks", { all: true });
    expect((await deploy(project, says("after reconcile-locks"))).status).toBe("ready");
  });

  /** The rest of what each step does is tested in test/local/pipeline, without a deployment. */
  describe("a build that waits for its upload", () => {
    /** A new build that waits for its upload. */
    async function waiting(): Promise<string> {
      const { id } = (await project.call("POST", `${project.project}/builds`)).body.build;
      await vi.waitFor(async () => expect((await rows(id)).build?.uploadToken).toBeDefined(), { timeout: 15_000 });
      return id;
    }
    async function rows(id: string) {
      const all = await guarded.direct.rowsOf(project.seed.projectId);
      return { build: all.find(({ sk }) => sk === `BLD#${id}`), lock: all.find(({ sk }) => sk === "LOCK") };
    }
    const archiveOf = (id: string) => {
      const { organizationId, projectId } = deploymentOf(id);
      return `archives/${organizationId}/${projectId}/${id}.zip`;
    };
    const uploaded = (key: string) =>
      invoke("archive-uploaded", { detail: { object: { key, size: 1, "version-id": "v7" } } });

    test("whose archive was uploaded goes on with the version of the event; other objects and repeated events do nothing", async () => {
      const id = await waiting();
      const waits = (await rows(id)).build;
      await uploaded("archives/other.zip");
      await uploaded(archiveOf(`bld_${"0".repeat(26)}`));
      expect((await rows(id)).build).toEqual(waits);
      await uploaded(archiveOf(id));
      const archive = { key: archiveOf(id), version: "v7" };
      // Its status may be `error` by now, because S3 has no such version.
      await vi.waitFor(async () => expect((await rows(id)).build).toMatchObject({ archive }), { timeout: 15_000 });
      await uploaded(archiveOf(id));
    });

    /** Lets the lease of the project's lock end in the past. */
    async function lapse(id: string): Promise<void> {
      const { lock } = await rows(id);
      await guarded.direct.put({ pk: "", sk: "", ...lock, leaseUntil: new Date(Date.now() - 1_000).toISOString() });
    }

    test("whose execution was never started is started by the check of its lock", async () => {
      const { build, lock } = await rows(await waiting());
      const never = `bld_${"0".repeat(25)}1`;
      const { uploadToken: _, ...row }: Record<string, unknown> = build ?? {};
      await guarded.direct.put({ ...row, pk: String(build?.pk), sk: `BLD#${never}`, id: never });
      await guarded.direct.put({ pk: "", sk: "", ...lock, buildId: never });
      await lapse(never);
      await invoke("reconcile-locks", {});
      await vi.waitFor(async () => expect((await rows(never)).build?.uploadToken).toBeDefined(), { timeout: 15_000 });
    });
  });
});
