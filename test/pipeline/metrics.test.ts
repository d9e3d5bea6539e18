import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kind } from "../../local/behavior.ts";
import { kindEcs } from "../../local/ecs/behavior.ts";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";

let running: Running;
let url: string;
beforeAll(async () => {
  running = await startRunning(undefined, { behavior: { ...kind, ecs: { ...kindEcs, measureEveryMs: 100 } } });
  const code = `
    if (req.url === "/fail") { res.statusCode = 500; return res.end(); }
    if (req.url === "/slow") return setTimeout(() => res.end("slow"), 300);
    if (req.url === "/die") process.exit(3);
    res.end("up");`;
  expect((await deploy(running, nodeApp(code))).status).toBe("ready");
  url = await address(running);
});
afterAll(() => running.stop());

const metricsOf = (project: string, query = "") => running.call("GET", `${project}/metrics${query}`);

/** The sums of all points. */
async function totals(): Promise<Record<"requests" | "errors" | "restarts", number>> {
  const { status, body } = await metricsOf(running.project);
  expect(status).toBe(200);
  const sum = (name: string) => body.points.reduce((total: number, point: Answer["body"]) => total + point[name], 0);
  return { requests: sum("requests"), errors: sum("errors"), restarts: sum("restarts") };
}
/** Repeats until the points fulfill a condition, and gives the last one that was measured. */
async function until(isReached: (point: Answer["body"]) => boolean): Promise<Answer["body"]> {
  for (;;) {
    const { body } = await metricsOf(running.project);
    const point = body.points.findLast(isReached);
    if (point) return point;
    await sleep(50);
  }
}

test("the deployment's own health checks are no requests; memory and processor time are measured", async () => {
  const point = await until(({ memoryMiB, cpuPercent }) => memoryMiB !== null && cpuPercent !== null);
  expect(point).toMatchObject({ latencyMsP50: null, latencyMsP95: null, restarts: 0 });
  expect(point.memoryMiB).toBeGreaterThan(10);
  expect(point.memoryMiB).toBeLessThan(512);
  expect(point.cpuPercent).toBeGreaterThanOrEqual(0);
  expect(await totals()).toEqual({ requests: 0, errors: 0, restarts: 0 });
});

test("requests, errors and latency are those that clients saw; a crash is a restart and an error", async () => {
  for (const path of ["/", "/missing", "/fail", "/slow"]) await fetch(url + path);
  expect(await totals()).toEqual({ requests: 4, errors: 1, restarts: 0 });
  const { latencyMsP95 } = await until(({ latencyMsP95 }) => latencyMsP95 !== null);
  expect(latencyMsP95).toBeGreaterThan(290);
  // A POST is not repeated, so the client sees that the app died.
  expect((await fetch(`${url}/die`, { method: "POST" })).status).toBe(502);
  await until(({ restarts }) => restarts === 1);
  expect(await totals()).toEqual({ requests: 5, errors: 2, restarts: 1 });
});

test("instances of a deployment that failed are no restarts", async () => {
  const { status } = await deploy(running, nodeApp("", "process.exit(3);"));
  expect([status, (await totals()).restarts]).toEqual(["error", 1]);
});

test("points are at multiples of the step, at most 300, from the moment that was asked for", async () => {
  const hours = (count: number) => new Date(Date.now() - count * 3_600_000).toISOString();
  for (const [since, stepSeconds] of [
    [hours(1), 60],
    [hours(24), 300],
    [hours(24 * 400), 7_200],
    [hours(-1), 60],
  ] as const) {
    const { status, body } = await metricsOf(running.project, `?since=${since}`);
    expect([status, body.stepSeconds]).toEqual([200, stepSeconds]);
    expect(body.points.length).toBeLessThanOrEqual(300);
    expect(body.from).toBe(body.points[0].at);
    expect(body.points.filter(({ at }: { at: string }) => Date.parse(at) % (stepSeconds * 1_000) !== 0)).toEqual([]);
  }
  const { body } = await metricsOf(running.project, `?since=${hours(24)}`);
  // A new point may have begun since the requests.
  const requests = body.points.reduce((total: number, point: Answer["body"]) => total + point.requests, 0);
  expect(requests).toBeGreaterThanOrEqual(5);
});

test("a project without an app has points without values, and another moment is refused", async () => {
  const { project } = await running.operator("create-project", {
    organizationId: running.seed.organizationId,
    name: "Empty",
  });
  const other = `/organizations/${running.seed.organizationId}/projects/${project?.id}`;
  const { status, body } = await metricsOf(other);
  expect([status, body.points.length]).toEqual([200, 61]);
  const { at: _, ...values } = body.points[0];
  expect(new Set(Object.values(values))).toEqual(new Set([null]));
  for (const since of ["yesterday", "2026-11-20", "1763640000", ""]) {
    const refused = await metricsOf(other, `?since=${since}`);
    expect([since, refused.status, refused.body.issues?.[0]?.path]).toEqual([since, 400, "since"]);
  }
  expect((await metricsOf(`${other}x`)).status).toBe(404);
});
