import { expect, test } from "vitest";
import { startGuarded } from "../api/faults/guarded-service.ts";
import { deploy, nodeApp } from "../harness/app.ts";

/** The routes refuse more than 1 MiB; what was stored before they did can be more. */
test("variables that are too large to start a program end the build with an error", async () => {
  const guarded = await startGuarded();
  try {
    const { running, direct } = guarded;
    const pk = `PRJ#${running.seed.projectId}`;
    const at = new Date().toISOString();
    for (let index = 0; index < 49; index += 1) {
      const id = `env_${String(index).padStart(26, "0")}`;
      const variable = { id, name: `LARGE_${index}`, value: "x".repeat(32 * 1024), createdAt: at, updatedAt: at };
      await direct.put({ pk, sk: `ENV#${id}`, ...variable });
    }
    const build = await deploy(running, nodeApp("res.end('never')"));
    expect(build).toMatchObject({ status: "error" });
    expect(build.error).toMatch(/variables have \d+ bytes together/);
  } finally {
    await guarded.stop();
  }
});
