import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { begin, deploy } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { appThatLeaves, first, sleepers, until } from "./leftovers.ts";

describe.runIf(process.platform === "linux")("a process that a build's command leaves behind", () => {
  let running: Running | undefined;
  beforeAll(async () => {
    running = await startRunning();
  });
  afterAll(() => running?.stop());

  test("ends with the build, whether that succeeds or fails", async () => {
    if (!running) throw new Error("no service");
    expect(await deploy(running, appThatLeaves(first + 1, "echo built"))).toMatchObject({ status: "ready" });
    expect(sleepers(first + 1)).toEqual([]);
    expect(await deploy(running, appThatLeaves(first + 2, "exit 3"))).toMatchObject({ status: "error" });
    expect(sleepers(first + 2)).toEqual([]);
  });

  test("ends when the service stops during the build", async () => {
    if (!running) throw new Error("no service");
    await begin(running, appThatLeaves(first + 3, `sleep ${first + 3}`));
    await until(() => sleepers(first + 3).length === 2);
    await running.stop();
    running = undefined;
    expect(sleepers(first + 3)).toEqual([]);
  });
});
