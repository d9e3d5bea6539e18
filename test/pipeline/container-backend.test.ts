import { afterAll, describe } from "vitest";
import { testEngine } from "../harness/engine.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { deploymentTests } from "./backends/deployment.ts";
import { loopbackOnlyTests } from "./backends/loopback-only.ts";

/**
 * The tests of apps as processes once more in containers, with one service for all. SLIPWAY_TESTS=all runs all of them;
 * otherwise those that `containers.test.ts` does not run both ways anyway.
 */
const isEverything = process.env.SLIPWAY_TESTS === "all";
describe.skipIf((await testEngine()).kind === "none")("with a Docker engine", () => {
  let running: Promise<Running> | undefined;
  const start = async (): Promise<Running> => {
    // Longer than the tests: what ends a build is not this time-out.
    running ??= startRunning(undefined, { containers: "docker", healthTimeoutSeconds: 900 });
    return { ...(await running), stop: async () => undefined };
  };
  afterAll(async () => (await running)?.stop());

  if (isEverything) describe("a deployment", () => deploymentTests(start));
  loopbackOnlyTests(start);
});
