import { ECSClient, ListServiceDeploymentsCommand } from "@aws-sdk/client-ecs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceName } from "../../lambdas/aws/app-names.ts";
import { address, begin, deploy, newProject, nodeApp, reaches } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { invokeFunction, runtimeOf } from "../harness/signing.ts";
import { startTraffic } from "../harness/traffic.ts";
import { loopbackOnlyTests } from "./backends/loopback-only.ts";

/** Shorter than in production, but longer than a slow machine needs to start an app and to wait 5 s for an answer. */
const healthTimeoutSeconds = 20;

/** Versions that never become healthy. Each takes the whole time-out, so they run concurrently. */
const unhealthy: [string, Record<string, string>, RegExp][] = [
  ["answers 500", nodeApp("console.log('boom'); res.statusCode = 500; res.end()"), /answered with 500[\s\S]*boom/],
  [
    "listens elsewhere",
    nodeApp("", "require('node:http').createServer((q, r) => r.end()).listen(Number(process.env.PORT) + 1); return;"),
    /listens on port \d+, but requests arrive on port 8080/,
  ],
  ["hangs", nodeApp("/* never answers */"), /no answer within 5 s/],
];

describe.concurrent("a version that does not become healthy", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning(undefined, { healthTimeoutSeconds });
  });
  afterAll(() => running.stop());

  test("is given up when its hook has not opened within ten minutes", async ({ expect }) => {
    const { projectId, organizationId } = running.seed;
    // Longer than this test, so that nothing else ends the wait.
    const settings = { "slipway.json": JSON.stringify({ healthTimeoutSeconds: 600 }) };
    const silent = nodeApp("", "console.log('thinking'); setInterval(() => {}, 1000); return;");
    const buildId = await begin(running, { ...silent, ...settings });
    await reaches(running, buildId, "deploying");
    const ecs = new ECSClient({ ...runtimeOf(running.home), region: "us-east-1" });
    const list = new ListServiceDeploymentsCommand({ cluster: "slipway", service: serviceName(projectId) });
    const serviceDeploymentArn = await vi.waitFor(
      async () => {
        const [found] = (await ecs.send(list)).serviceDeployments ?? [];
        expect(found).toBeDefined();
        return found?.serviceDeploymentArn;
      },
      { timeout: 60_000, interval: 50 },
    );
    ecs.destroy();
    /** What the health check says of the deployment if it had begun so many minutes ago. */
    const checkAfter = (minutes: number) => {
      const since = new Date(Date.now() - minutes * 60_000).toISOString();
      const deployment = { organizationId, projectId, buildId, source: "upload" };
      return invokeFunction(running.home, "check-health", {
        deployment,
        deployed: { serviceDeploymentArn, url: null, since },
      });
    };
    const reason = expect.stringMatching(
      /Nothing is listening on port 8080[\s\S]*Detected: nodejs24\.x, started with: node server\.js[\s\S]*thinking/,
    );
    await expect.poll(() => checkAfter(11), { timeout: 60_000 }).toMatchObject({ verdict: "unhealthy", reason });
    const { body } = await running.call("GET", `${running.project}/builds/${buildId}`);
    expect(body.build.status).toBe("deploying");
  });

  loopbackOnlyTests(() => newProject(running, "loopback only"));

  test("is rolled back with the reason and its last output, without a failed request", {
    timeout: 180_000,
  }, async () => {
    const projects = await Promise.all(unhealthy.map(([name]) => newProject(running, name)));
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
