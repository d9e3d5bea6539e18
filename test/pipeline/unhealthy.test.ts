import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, begin, deploy, finished, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { startTraffic } from "../harness/traffic.ts";

/** Versions that never become healthy. Each takes a minute, so they run concurrently. */
const unhealthy: [string, Record<string, string>, RegExp][] = [
  ["answers 500", nodeApp("console.log('boom'); res.statusCode = 500; res.end()"), /answered with 500[\s\S]*boom/],
  [
    "never listens",
    nodeApp("", "console.log('thinking'); setInterval(() => {}, 1000); return;"),
    /Nothing is listening on port 8080[\s\S]*Detected: nodejs24\.x, started with: node server\.js[\s\S]*thinking/,
  ],
  [
    "listens elsewhere",
    nodeApp("", "require('node:http').createServer((q, r) => r.end()).listen(Number(process.env.PORT) + 1); return;"),
    /listens on port \d+, but requests arrive on port 8080/,
  ],
  ["hangs", nodeApp("/* never answers */"), /no answer within 5 s/],
];

describe("a version that does not become healthy", () => {
  const services: Running[] = [];
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
    services.push(running);
  });
  afterAll(() => Promise.all(services.map((service) => service.stop())));

  test("is rolled back with the reason and its last output, without a failed request", {
    timeout: 180_000,
  }, async () => {
    const projects = await Promise.all(
      unhealthy.map(async ([name]) => {
        const { project } = await running.operator("create-project", {
          organizationId: running.seed.organizationId,
          name,
        });
        return { ...running, project: `/organizations/${running.seed.organizationId}/projects/${project?.id}` };
      }),
    );
    const seen = await Promise.all(
      projects.map(async (project, index) => {
        await deploy(project, nodeApp("res.end('good')"));
        const traffic = startTraffic(await address(project));
        const build = await deploy(project, unhealthy[index]?.[1] ?? {});
        return { build, traffic: await traffic.stop() };
      }),
    );
    for (const [index, { build, traffic }] of seen.entries()) {
      expect(build.status).toBe("error");
      expect(build.error).toContain("the previous version keeps serving");
      expect(build.error).toMatch(unhealthy[index]?.[2] ?? /$/);
      expect(traffic.failures).toEqual([]);
      expect([...traffic.bodies]).toEqual(["good"]);
    }
  });

  test.runIf(process.platform === "linux")("fails early if it listens only on the loopback address", async () => {
    const { project } = await running.operator("create-project", {
      organizationId: running.seed.organizationId,
      name: "loopback",
    });
    const own = { ...running, project: `/organizations/${running.seed.organizationId}/projects/${project?.id}` };
    const app = nodeApp(
      "",
      "createServer((q, r) => r.end()).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('up')); return;",
    );
    const startedAt = performance.now();
    const id = await begin(own, app);
    const lines = await notices(own, id);
    expect(lines).toContain("Slipway: the app listens on 127.0.0.1:8080 only. Listen on 0.0.0.0.");
    const { body } = await own.call("GET", `${own.project}/builds/${id}`);
    expect(body.build.status).toBe("deploying");
    const build = await finished(own, id);
    expect(build.status).toBe("error");
    expect(build.error).toMatch(/Your app listens on 127\.0\.0\.1:8080 only[\s\S]*Listen on 0\.0\.0\.0/);
    expect(performance.now() - startedAt).toBeLessThan(45_000);
  });
});

/** The lines that the service adds to the app's output, read from the build's log while it is deployed. */
async function notices(service: Running, id: string): Promise<string[]> {
  for (;;) {
    const { body } = await service.call("GET", `${service.project}/builds/${id}/logs`);
    const found = (body.lines as { text: string }[]).filter(({ text }) => text.startsWith("Slipway: "));
    if (found.length > 0) return found.map(({ text }) => text);
    await sleep(200);
  }
}
