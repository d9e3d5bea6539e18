import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Behavior, cloud } from "../../local/behavior.ts";
import type { EcsBehavior } from "../../local/ecs/behavior.ts";
import { address, begin, deploy, finished, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { startTraffic } from "../harness/traffic.ts";
import { openGate } from "./faults/table-writes.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const body = async (url: string) => (await fetch(url)).text();
/** Shorter than a cloud task needs from its start until its hook opens. */
const healthTimeoutSeconds = 2;

describe.concurrent("on services with the delays, refusals and faults of AWS", () => {
  let running: Running;
  /** The task definitions that were registered. */
  const registered: string[] = [];
  const deletion = openGate();
  const draining = openGate();
  /** The service whose old revision drains until `draining` is opened. */
  let heldService: string | undefined;
  beforeAll(async () => {
    const { ecs, faults, ...others } = cloud();
    const drained: EcsBehavior["drained"] = (service, signal) =>
      heldService === service ? draining.opened : ecs.drained(service, signal);
    const behavior: Behavior = {
      ...others,
      ecs: { ...ecs, firstServiceMs: 3_000, deleted: () => deletion.opened, drained },
      faults(call) {
        const fault = faults?.(call);
        const isExecuted = fault?.kind !== "throttled" && fault?.kind !== "failed";
        if (call.operation === "RegisterTaskDefinition" && isExecuted) registered.push(call.input);
        return fault;
      },
    };
    running = await startRunning(undefined, { behavior, healthTimeoutSeconds });
  });
  afterAll(() => running.stop());

  async function newProject(name: string): Promise<Running> {
    const { organizationId } = running.seed;
    const { project } = await running.operator("create-project", { organizationId, name });
    return { ...running, project: `/organizations/${organizationId}/projects/${project?.id}` };
  }

  const waits = expect.stringContaining("Waiting for the project's earlier deployment");

  async function logOf(project: Running, buildId: string): Promise<string[]> {
    const { body } = await project.call("GET", `${project.project}/builds/${buildId}/logs?limit=1000`);
    return body.lines.map((line: { text: string }) => line.text);
  }

  test("a first deployment that fails leaves nothing running, and the next one becomes ready", async () => {
    const project = await newProject("fails first");
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

  test("a healthy app whose hook opens after the health time-out becomes ready", async () => {
    const project = await newProject("slow gateway");
    const startedAt = Date.now();
    expect(await deploy(project, says("late"))).toMatchObject({ status: "ready", error: null, isLive: true });
    expect(Date.now() - startedAt).toBeGreaterThan(healthTimeoutSeconds * 1000);
    expect(await body(await address(project))).toBe("late");
  }, 90_000);

  test("a deployment that starts while the old revision drains waits, registers one task definition, and logs the wait", async () => {
    const project = await newProject("drains");
    await deploy(project, says("one"));
    const traffic = startTraffic(await address(project));
    heldService = `app-${project.project.split("/").at(-1)}`;
    const two = await deploy(project, says("two"));
    const begun = await begin(project, says("three"));
    await vi.waitFor(async () => expect(await logOf(project, begun)).toContainEqual(waits), {
      timeout: 30_000,
      interval: 200,
    });
    draining.open();
    const third = await finished(project, begun);
    await sleep(100);
    const seen = await traffic.stop();
    expect([two.status, third.status]).toEqual(["ready", "ready"]);
    expect(registered.filter((input) => input.includes(third.id))).toHaveLength(1);
    expect(seen.failures).toEqual([]);
    expect([...seen.bodies]).toEqual(["one", "two", "three"]);
  }, 90_000);

  test("a bad version is rolled back without a failed request, and the build's error says which version serves", async () => {
    const project = await newProject("bad version");
    const good = await deploy(project, says("good"));
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
});
