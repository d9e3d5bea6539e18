import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, begin, deploy, finished, nodeApp, reaches } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";
import { invokeFunction } from "../../harness/signing.ts";
import { changeOf, openGate } from "./table-writes.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);

describe("events that come late, twice or for a build that is over", () => {
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

  /** Runs a function of the service with an event, as AWS does; a function's error rejects. */
  async function invoke(name: string, event: object): Promise<void> {
    await invokeFunction(project.home, name, event);
  }
  const deploymentOf = (buildId: string, source = "upload") => {
    const [, , organizationId, , projectId] = project.project.split("/");
    return { organizationId, projectId, buildId, source };
  };
  const died = (buildId: string) => ({ detail: { status: "FAILED", input: JSON.stringify(deploymentOf(buildId)) } });
  const read = async (id: string) => (await project.call("GET", `${project.project}/builds/${id}`)).body.build;
  const serves = async () => (await fetch(await address(project))).text();

  test("a canceled build stays at its stage when its upload never comes and when its execution dies", async () => {
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

  test("an upload that never comes ends the build, says what to do, and frees the project", async () => {
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await invoke("fail-build", { deployment: deploymentOf(id), error: { Error: "States.Timeout", Cause: "" } });
    const build = await read(id);
    expect(build).toMatchObject({ status: "error", canceledAt: null });
    expect(build.error).toMatch(/No archive was uploaded within 1 hour/);
    expect((await project.call("POST", `${project.project}/builds`)).status).toBe(201);
    expect(await guarded.broken()).toEqual([]);
  });

  test("the end of an execution, told three times at once and again later, ends its build once and frees the project once", async () => {
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

  test("a build whose execution died while it deployed is put back, and a late repetition does not undo the next one", {
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

    // The late one has read the build as it deploys; its answer is held until all is over.
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

  test("a lock whose execution was never started is started by the sweep, and one that is over is freed", async () => {
    const created = await project.call("POST", `${project.project}/builds`);
    const { id } = created.body.build;
    await Promise.all([invoke("reconcile-locks", { all: true }), invoke("reconcile-locks", { all: true })]);
    expect(await read(id)).toMatchObject({ status: "pending", canceledAt: null });
    expect(await guarded.broken()).toEqual([]);
    expect((await project.call("POST", `${project.project}/builds/${id}/cancel`)).status).toBe(200);
    await invoke("reconcile-locks", { all: true });
    expect((await deploy(project, says("after the sweep"))).status).toBe("ready");
  });
});
