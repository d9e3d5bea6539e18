import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from "@aws-sdk/client-cloudwatch-logs";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type Guarded, startGuarded } from "../../api/faults/guarded-service.ts";
import { address, begin, deploy, finished, nodeApp, reaches } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";
import { invokeFunction, runtimeOf } from "../../harness/signing.ts";
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

  describe("a step that is called for a build", () => {
    const timeout = { Error: "States.Timeout", Cause: "" };
    const rejected = { Error: "BuildRejected", Cause: JSON.stringify({ errorMessage: "No start command was found." }) };

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
    /** Changes the stored build, as an earlier step would have. */
    async function stored(id: string, change: object): Promise<void> {
      const { build } = await rows(id);
      await guarded.direct.put({ pk: "", sk: "", ...build, ...change });
    }
    const failBuild = (id: string, error: object) => invoke("fail-build", { deployment: deploymentOf(id), error });
    const rollBack = (id: string, reason: string | null, error: object | null) =>
      invoke("roll-back", { deployment: deploymentOf(id), reason, error });

    test("that waits for its upload leaves the project's lock alone for longer than the upload may take", async () => {
      const { lock } = await rows(await waiting());
      const leaseSeconds = (Date.parse(String(lock?.leaseUntil)) - Date.now()) / 1000;
      expect(leaseSeconds).toBeGreaterThan(3_600);
    });

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

    test.each(["FAILED", "TIMED_OUT", "ABORTED"])(
      "whose execution %s ends it and releases the lock",
      async (status) => {
        const id = await waiting();
        await invoke("execution-ended", { detail: { status, input: JSON.stringify(deploymentOf(id)) } });
        const error = "The deployment was interrupted on our side. Please create the build again.";
        expect(await read(id)).toMatchObject({ status: "error", error });
        expect((await rows(id)).lock).toBeUndefined();
        await expect(invoke("execution-ended", { detail: { status, input: "{}" } })).rejects.toThrow(
          "not a deployment",
        );
      },
    );

    test("that was deleted meanwhile does nothing", async () => {
      const gone = `bld_${"0".repeat(26)}`;
      expect(await failBuild(gone, timeout)).toEqual({});
      expect(await rollBack(gone, "It crashed.", null)).toEqual({ done: true });
      expect((await rows(gone)).build).toBeUndefined();
    });

    /** Lets the lease of the project's lock end in the past. */
    async function lapse(id: string): Promise<void> {
      const { lock } = await rows(id);
      await guarded.direct.put({ pk: "", sk: "", ...lock, leaseUntil: new Date(Date.now() - 1_000).toISOString() });
    }
    const leaseOf = async (id: string) => Date.parse(String((await rows(id)).lock?.leaseUntil)) - Date.now();

    test("whose lease has ended gets a new one while its execution runs; other leases stay", async () => {
      const id = await waiting();
      const before = (await rows(id)).lock;
      await invoke("reconcile-locks", {});
      expect((await rows(id)).lock).toEqual(before);
      await lapse(id);
      await invoke("reconcile-locks", {});
      expect(await leaseOf(id)).toBeGreaterThan(800_000);
      expect((await rows(id)).lock).toEqual({ ...before, leaseUntil: expect.any(String) });
      expect(await read(id)).toMatchObject({ status: "pending" });
    });

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

    test("of a removal whose lease has ended is started by reconcile-locks, which gives it a new lease", async () => {
      const id = `prj_${"0".repeat(26)}`;
      const { organizationId } = deploymentOf("");
      const removal = { kind: "project", id, organizationId, buildId: null, settleSeconds: 3_600, settled: false };
      const leaseUntil = new Date(Date.now() - 1_000).toISOString();
      const row = { pk: `DEL#${id}`, sk: "DEL", ...removal, attempt: 1, leaseUntil, lockShard: "REMOVAL" };
      await guarded.direct.put(row);
      await invoke("reconcile-locks", {});
      const found = (await guarded.direct.rows()).find(({ pk }) => pk === row.pk);
      expect(found).toEqual({ ...row, leaseUntil: expect.any(String) });
      expect(Date.parse(String(found?.leaseUntil)) - Date.now()).toBeGreaterThan(500_000);
    });

    test("that was canceled does nothing and says so", async () => {
      const id = await waiting();
      await project.call("POST", `${project.project}/builds/${id}/cancel`);
      const canceled = (await rows(id)).build;
      await uploaded(archiveOf(id));
      await expect(invoke("await-upload", { deployment: deploymentOf(id), taskToken: "late" })).rejects.toThrow(
        "BuildCanceled",
      );
      await expect(invoke("copy-archive", { deployment: deploymentOf(id) })).rejects.toThrow("BuildCanceled");
      expect((await rows(id)).build).toEqual(canceled);
    });

    test("that is rejected ends it with the reason, a canceled one too, and once", async () => {
      const [id, canceled] = [await waiting(), await project.call("POST", `${project.project}/builds`)];
      expect(canceled.status).toBe(409);
      expect(await failBuild(id, rejected)).toEqual({});
      const ended = await read(id);
      expect(ended).toMatchObject({ status: "error", error: "No start command was found.", canceledAt: null });
      await failBuild(id, timeout);
      expect(await rollBack(id, "later", null)).toEqual({ done: true });
      expect(await read(id)).toEqual(ended);
      const next = await waiting();
      await project.call("POST", `${project.project}/builds/${next}/cancel`);
      await failBuild(next, rejected);
      expect(await read(next)).toMatchObject({ status: "error", error: ended.error, canceledAt: expect.any(String) });
      expect(await guarded.broken(project)).toEqual([]);
    });

    test.each([
      ["whose upload has arrived", { status: "analyzing" }],
      ["of another build's archive", { source: { kind: "copy", buildId: "bld_1", key: "k", version: "1", size: 1 } }],
    ])("%s and that timed out is not told to upload", async (_, change) => {
      const id = await waiting();
      await stored(id, change);
      await failBuild(id, timeout);
      expect((await read(id)).error).toBe("A step of the deployment timed out. Please create the build again.");
    });

    test("whose image could not be built shows the command's output, masked, and keeps its log", async () => {
      const body = { name: "TOKEN", value: "hidden-value-1" };
      expect((await project.call("POST", `${project.project}/environments`, { body })).status).toBe(201);
      const id = await waiting();
      await stored(id, { runtime: "nodejs24.x", start: "node server.js" });
      const logs = new CloudWatchLogsClient({ ...runtimeOf(project.home), region: "us-east-1" });
      const group = { logGroupName: process.env.BUILD_LOG_GROUP };
      const stream = { ...group, logStreamName: `failed-${id}` };
      // The first image build creates the group.
      await logs.send(new CreateLogGroupCommand(group)).catch(({ name }: Error) => {
        expect(name).toBe("ResourceAlreadyExistsException");
      });
      await logs.send(new CreateLogStreamCommand(stream));
      const messages = ["npm error code E401 for hidden-value-1", "npm ci failed with exit code 1"];
      const logEvents = messages.map((message, index) => ({ timestamp: Date.now() + index, message }));
      await logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
      logs.destroy();
      const Cause = JSON.stringify({ Build: { Logs: { StreamName: stream.logStreamName } } });
      await project.call("POST", `${project.project}/builds/${id}/cancel`);
      await failBuild(id, { Error: "States.TaskFailed", Cause });
      const { status, error } = await read(id);
      expect([status, error.split("\n")[0]]).toEqual([
        "error",
        "The image could not be built: npm ci failed with exit code 1.",
      ]);
      expect(error).toContain("Detected: nodejs24.x, started with: node server.js");
      expect(error).toContain("npm error code E401 for ");
      expect(error).not.toContain("hidden-value-1");
      expect((await rows(id)).build?.buildLog).toBe(stream.logStreamName);
    });

    test("that never began to deploy is not rolled back, but ends with the reason alone", async () => {
      const id = await waiting();
      expect(await rollBack(id, "It crashed.", null)).toEqual({ done: true });
      expect(await read(id)).toMatchObject({ status: "error", error: "It crashed." });
      const next = await waiting();
      expect(await rollBack(next, null, rejected)).toEqual({ done: true });
      expect((await read(next)).error).toBe("No start command was found.");
      expect(await guarded.broken(project)).toEqual([]);
    });

    test("that is the first to be deployed leaves nothing when it is rolled back", async () => {
      const id = await waiting();
      await stored(id, { status: "deploying", previous: null });
      expect(await rollBack(id, "It crashed.", null)).toEqual({ done: true });
      expect((await read(id)).error).toBe("The version did not become healthy, and nothing is running. It crashed.");
      expect(await guarded.broken(project)).toEqual([]);
      const next = await waiting();
      await stored(next, { status: "deploying", previous: null });
      await rollBack(next, null, null);
      expect((await read(next)).error).toBe("The version did not become healthy, and nothing is running.");
    });

    test("is finished once, and only while it deploys", async () => {
      const id = await waiting();
      const ready = { warning: "It answers 404.", appLog: "app/1", successes: [] };
      const finish = () => invoke("finish", { deployment: deploymentOf(id), ready });
      await expect(finish()).rejects.toThrow("could not be ended as ready");
      await stored(id, { status: "deploying" });
      expect([await finish(), await finish()]).toEqual([{}, {}]);
      expect(await read(id)).toMatchObject({ status: "ready", warning: "It answers 404." });
      expect((await rows(id)).lock).toBeUndefined();
    });
  });
});
