import { expect, test } from "vitest";
import { deploy, nodeApp } from "../harness/app.ts";
import { startRunning } from "../harness/service.ts";

test("variables that no program could be started with end the build with a sentence", async () => {
  const running = await startRunning();
  try {
    for (let index = 0; index < 49; index += 1) {
      const body = { name: `LARGE_${index}`, value: "x".repeat(32 * 1024) };
      expect((await running.call("POST", `${running.project}/environments`, { body })).status).toBe(201);
    }
    const build = await deploy(running, nodeApp("res.end('never')"));
    expect(build).toMatchObject({ status: "error" });
    expect(build.error).toMatch(/variables have \d+ bytes together/);
  } finally {
    await running.stop();
  }
});
