import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { testEngine } from "../harness/engine.ts";
import { type Running, startRunning } from "../harness/service.ts";

const engine = await testEngine();

describe.skipIf(engine.kind === "none")("deployments in containers", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning(undefined, { containers: "docker" });
  });
  afterAll(() => running.stop());

  test("a new version replaces the old one without a lost request", async () => {
    const first = await deploy(running, nodeApp('res.end("first")'));
    expect(first).toMatchObject({ status: "ready", error: null });
    const url = await address(running);
    expect(await (await fetch(url)).text()).toBe("first");
    const answers: Promise<number>[] = [];
    const timer = setInterval(() => answers.push(fetch(url).then(({ status }) => status)), 50);
    const second = await deploy(running, nodeApp('res.end("second")'));
    clearInterval(timer);
    expect(second.status).toBe("ready");
    expect(await (await fetch(url)).text()).toBe("second");
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  });
});
