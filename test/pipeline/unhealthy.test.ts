import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { startTraffic } from "../harness/traffic.ts";

/** Shorter than in production, but longer than a slow machine needs to start an app and to wait 5 s for an answer. */
const healthTimeoutSeconds = 20;

/** Versions that never become healthy. Each takes the whole time-out, so they run concurrently. */
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
  let running: Running;
  beforeAll(async () => {
    running = await startRunning(undefined, { healthTimeoutSeconds });
  });
  afterAll(() => running.stop());

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
        const traffic = startTraffic(await address(project), 100);
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
});
