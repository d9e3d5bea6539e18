import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTable } from "../api/faults/guarded-service.ts";
import { begin, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";
import { startMortal } from "./faults/mortal-service.ts";

/** Numbers of this run alone: a process that another run left behind is not counted. */
const first = 100_000 + (process.pid % 80_000) * 10;

/** The processes of this machine that run `sleep` with this number, which identifies one scenario. */
function sleepers(seconds: number): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 80_000, interval: 50 }).toBe(true);
}

/** An app whose build starts a process outside its process group and then runs `more`. */
function appThatLeaves(seconds: number, more: string): Record<string, string> {
  const scripts = { start: "node server.js", build: `setsid sleep ${seconds} & ${more}` };
  return { ...nodeApp("res.end('ok')"), "package.json": JSON.stringify({ name: "app", private: true, scripts }) };
}

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

  test("ends when the service is killed during the build", async () => {
    const table = await openTable();
    const service = await startMortal(table.gate.endpoint);
    const { project, call } = service;
    await begin({ project, call } as Running, appThatLeaves(first + 4, `sleep ${first + 4}`));
    await until(() => sleepers(first + 4).length === 2);
    service.kill();
    await until(() => sleepers(first + 4).length === 0);
    await service.remove();
    await table.close();
  });
});
