import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { startTraffic } from "../harness/traffic.ts";

/** Versions that the health check waits for in vain: a minute each, so they run side by side. */
const unhealthy: [string, Record<string, string>, RegExp][] = [
  ["answers 500", nodeApp("console.log('boom'); res.statusCode = 500; res.end()"), /answered with 500[\s\S]*boom/],
  [
    "never listens",
    nodeApp("", "console.log('thinking'); setInterval(() => {}, 1000); return;"),
    /nobody listening[\s\S]*thinking/,
  ],
  [
    "listens elsewhere",
    nodeApp("", "require('node:http').createServer((q, r) => r.end()).listen(Number(process.env.PORT) + 1); return;"),
    /listens on/,
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

  test("is rolled back with the reason and its last output, and costs no request", { timeout: 180_000 }, async () => {
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
});
