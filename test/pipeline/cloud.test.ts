import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceName } from "../../lambdas/aws/app-names.ts";
import { type Behavior, cloud } from "../../local/behavior.ts";
import type { EcsBehavior } from "../../local/ecs/behavior.ts";
import { stateMachineArn } from "../../local/names.ts";
import { address, begin, deploy, finished, newProject, nodeApp, reaches } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { invokeFunction, runtimeOf } from "../harness/signing.ts";
import { startTraffic } from "../harness/traffic.ts";
import { openGate } from "./faults/table-writes.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const body = async (url: string) => (await fetch(url)).text();
/** Shorter than a cloud task needs from its start until its hook opens. */
const healthTimeoutSeconds = 2;
const drainMs = 500;

describe.concurrent("on services with the delays, refusals and faults of AWS", () => {
  let running: Running;
  const folder = mkdtempSync(join(tmpdir(), "cloud-"));
  /** The task definitions that were registered. */
  const registered: string[] = [];
  const deletion = openGate();
  const draining = openGate();
  /** The service whose old revision drains until `draining` is opened. */
  let heldService: string | undefined;
  /** The service whose execution is stopped when its traffic has moved; until then its deployment cannot be read. */
  let interrupted:
    | {
        service: string;
        isUnreadable: boolean;
        isStopped: boolean;
        stops: number;
        unlisted: number;
        moved(): Promise<void>;
      }
    | undefined;
  beforeAll(async () => {
    const { ecs, faults, ...others } = cloud();
    const drained: EcsBehavior["drained"] = (service, signal) => {
      if (interrupted?.isUnreadable && interrupted.service === service) return interrupted.moved();
      return heldService === service ? draining.opened : sleep(drainMs, undefined, { signal });
    };
    const behavior: Behavior = {
      ...others,
      // The event of an ended execution never arrives.
      stepFunctions: { deliveriesMs: () => [] },
      ecs: { ...ecs, firstServiceMs: 3_000, deleted: () => deletion.opened, drained },
      faults(call) {
        const fault = faults?.(call);
        const isExecuted = fault?.kind !== "throttled" && fault?.kind !== "failed";
        if (call.operation === "RegisterTaskDefinition" && isExecuted) registered.push(call.input);
        if (!interrupted || !call.input.includes(interrupted.service)) return fault;
        if (call.operation === "StopServiceDeployment") interrupted.stops += 1;
        const isContinued = call.operation === "ContinueServiceDeployment" && isExecuted;
        // Not again for the deployment that restores the version before.
        if (isContinued && !interrupted.isStopped) interrupted.isUnreadable = true;
        // The list shows the deployment that restores the version before later than the service does.
        if (call.operation === "UpdateService" && interrupted.isStopped && isExecuted) interrupted.unlisted = 4;
        if (call.operation === "ListServiceDeployments" && interrupted.unlisted > 0) {
          interrupted.unlisted -= 1;
          return { kind: "stale" };
        }
        const isRead = call.operation === "DescribeServiceDeployments";
        return isRead && interrupted.isUnreadable ? { kind: "failed" } : fault;
      },
    };
    running = await startRunning(undefined, { behavior, healthTimeoutSeconds });
  });
  afterAll(async () => {
    await running.stop();
    rmSync(folder, { recursive: true });
  });

  /** An app whose build waits until `go` is called, so that a test meets it in this stage. */
  function held(text: string) {
    const file = join(folder, text);
    const scripts = { start: "node server.js", build: `while [ ! -e ${file} ]; do sleep 0.05; done` };
    const files = { ...says(text), "package.json": JSON.stringify({ name: "app", private: true, scripts }) };
    return { files, go: () => writeFileSync(file, "") };
  }

  const waits = expect.stringContaining("Waiting for the project's earlier deployment");

  async function logOf(project: Running, buildId: string): Promise<string[]> {
    const { body } = await project.call("GET", `${project.project}/builds/${buildId}/logs?limit=1000`);
    return body.lines.map((line: { text: string }) => line.text);
  }

  async function stopExecution(buildId: string): Promise<void> {
    const { endpoint, credentials } = runtimeOf(running.home);
    const machines = new SFNClient({ endpoint, credentials, region: "us-east-1" });
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${buildId}`;
    await machines.send(new StopExecutionCommand({ executionArn }));
    machines.destroy();
  }

  /** The check of the locks runs every minute; one that meets a fault leaves the lock to the next. */
  async function untilEnded(project: Running, id: string): Promise<void> {
    await vi.waitFor(
      async () => {
        await invokeFunction(running.home, "reconcile-locks", { all: true });
        const { body: read } = await project.call("GET", `${project.project}/builds/${id}`);
        expect(read.build).toMatchObject({ status: "error", isLive: false });
      },
      { timeout: 60_000, interval: 500 },
    );
  }

  test("a first deployment that fails leaves nothing running, and the next one becomes ready", async () => {
    const project = await newProject(running, "fails first");
    const failed = await deploy(project, nodeApp("", "console.log('no luck'); process.exit(3);"));
    expect(failed).toMatchObject({ status: "error", isLive: false });
    expect(failed.error).toContain("exited with code 3");
    expect(failed.error).toContain("nothing is running");
    const next = await begin(project, says("second try"));
    // The name of the deleted service is in use until its tasks have ended, so the next deployment waits.
    await vi.waitFor(async () => expect(await logOf(project, next)).toContainEqual(waits), {
      timeout: 30_000,
      interval: 200,
    });
    deletion.open();
    const good = await finished(project, next);
    expect(good).toMatchObject({ status: "ready", isLive: true });
    expect(await body(await address(project))).toBe("second try");
  }, 90_000);

  test("a deployment that starts while the old revision drains waits, registers one task definition, and logs the wait; a rebuild and a redeploy serve what they copied", async () => {
    const project = await newProject(running, "drains");
    const one = await deploy(project, says("one"));
    const traffic = startTraffic(await address(project));
    heldService = serviceName(project.project.split("/").at(-1) ?? "");
    const two = await deploy(project, says("two"));
    const begun = await begin(project, says("three"));
    await vi.waitFor(async () => expect(await logOf(project, begun)).toContainEqual(waits), {
      timeout: 30_000,
      interval: 200,
    });
    draining.open();
    const third = await finished(project, begun);
    await traffic.sees("three");
    const rebuilt = await project.call("POST", `${project.project}/rebuild`);
    expect(await finished(project, rebuilt.body.build.id)).toMatchObject({ status: "ready", isLive: true });
    expect(await body(await address(project))).toBe("three");
    const redeployed = await project.call("POST", `${project.project}/builds/${one.id}/redeploy`);
    expect(await finished(project, redeployed.body.build.id)).toMatchObject({ status: "ready", isLive: true });
    expect(await body(await address(project))).toBe("one");
    const seen = await traffic.stop();
    expect([two.status, third.status]).toEqual(["ready", "ready"]);
    expect(registered.filter((input) => input.includes(third.id))).toHaveLength(1);
    expect(seen.failures).toEqual([]);
    expect([...seen.bodies]).toEqual(["one", "two", "three"]);
  }, 180_000);

  test("a healthy app whose hook opens after the health time-out becomes ready; a bad version is rolled back without a failed request, and the build's error says which version serves", async () => {
    const project = await newProject(running, "bad version");
    const startedAt = Date.now();
    const good = await deploy(project, says("good"));
    expect(good).toMatchObject({ status: "ready", error: null, isLive: true });
    expect(Date.now() - startedAt).toBeGreaterThan(healthTimeoutSeconds * 1000);
    expect(await body(await address(project))).toBe("good");
    const traffic = startTraffic(await address(project));
    const bad = await deploy(project, nodeApp("res.statusCode = 500; res.end('bad')"));
    const seen = await traffic.stop();
    expect(bad).toMatchObject({ status: "error", isLive: false });
    expect(bad.error).toContain("the previous version keeps serving");
    expect(seen.failures).toEqual([]);
    expect([...seen.bodies]).toEqual(["good"]);
    const { body: read } = await project.call("GET", `${project.project}/builds/${good.id}`);
    expect(read.build.isLive).toBe(true);
  }, 90_000);

  test("a build that is canceled while its image is built never serves, and the next one does", async () => {
    const project = await newProject(running, "canceled");
    const { files, go } = held("canceled");
    const id = await begin(project, files);
    await reaches(project, id, "building");
    const canceled = await project.call("POST", `${project.project}/builds/${id}/cancel`);
    expect(canceled).toMatchObject({ status: 200, body: { build: { status: "building" } } });
    go();
    expect(await deploy(project, says("next"))).toMatchObject({ status: "ready", isLive: true });
    expect(await body(await address(project))).toBe("next");
    const { body: after } = await project.call("GET", `${project.project}/builds/${id}`);
    expect(after.build).toMatchObject({ status: "building", canceledAt: expect.any(String), isLive: false });
  }, 90_000);

  test("a build whose execution was stopped, and whose event was lost, is ended by the next check of the locks", async () => {
    const project = await newProject(running, "lost event");
    const { files, go } = held("lost");
    const id = await begin(project, files);
    await reaches(project, id, "building");
    await stopExecution(id);
    go();
    const next = await project.call("POST", `${project.project}/builds`);
    expect(next).toMatchObject({ status: 409, body: { build: { id } } });
    await untilEnded(project, id);
    expect(await deploy(project, says("after"))).toMatchObject({ status: "ready", isLive: true });
  }, 90_000);

  test("a build whose execution is stopped after the traffic has moved is taken back without a failed request", async () => {
    const project = await newProject(running, "stopped late");
    await deploy(project, says("before"));
    const traffic = startTraffic(await address(project));
    const begun = Promise.withResolvers<string>();
    const cleanUp = openGate();
    const service = serviceName(project.project.split("/").at(-1) ?? "");
    const watched = {
      service,
      isUnreadable: false,
      isStopped: false,
      stops: 0,
      unlisted: 0,
      async moved() {
        await stopExecution(await begun.promise);
        watched.isStopped = true;
        watched.isUnreadable = false;
        // Long enough for several attempts to restore the version before, whose tasks are ending.
        setTimeout(cleanUp.open, 2_000);
        await cleanUp.opened;
      },
    };
    interrupted = watched;
    const id = await begin(project, says("stopped"));
    begun.resolve(id);
    await traffic.sees("stopped");
    await untilEnded(project, id);
    const seen = await traffic.stop();
    expect(seen.failures).toEqual([]);
    expect(await body(await address(project))).toBe("before");
    // ECS would end the only tasks that serve.
    expect(watched.stops).toBe(0);
  }, 90_000);
});
