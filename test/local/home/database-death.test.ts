import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseProcesses, type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** Needs /proc to find the database's process. */
describe.skipIf(process.platform !== "linux")("when the embedded DynamoDB is killed", () => {
  let home: string;
  let service: ServiceProcess;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), "slipway-database-"));
    service = startServiceProcess(home);
    await service.ready;
  }, 30_000);
  afterEach(async () => {
    await service.stop();
    rmSync(home, { recursive: true, force: true });
  });

  /** Kills the database when it runs; does nothing if the service ends first. */
  async function killDatabase(): Promise<void> {
    let found = databaseProcesses(home);
    for (; found.length === 0; found = databaseProcesses(home)) {
      if (service.child.exitCode !== null) return;
      await sleep(10);
    }
    for (const pid of found) process.kill(pid, "SIGKILL");
    while (databaseProcesses(home).some((pid) => found.includes(pid))) await sleep(5);
  }

  it("restarts it, with everything that was written", async () => {
    const { baseUrl, accessKey, secretKey } = JSON.parse(readFileSync(join(home, "local.json"), "utf8"));
    const headers = { authorization: `Bearer ${accessKey}:${secretKey}` };
    const list = () => fetch(`${baseUrl}/organizations`, { headers });
    const before = await (await list()).json();
    await killDatabase();
    const deadline = Date.now() + 10_000;
    let answer = await list();
    while (answer.status !== 200 && Date.now() < deadline) {
      expect(answer.status).toBe(503);
      await sleep(50);
      answer = await list();
    }
    expect(await answer.json()).toEqual(before);
    expect(service.child.exitCode).toBeNull();
  }, 60_000);

  it("exits with a message within 10 s if it is killed again and again", async () => {
    const began = Date.now();
    while (service.child.exitCode === null && Date.now() - began < 30_000) {
      await killDatabase();
    }
    expect(await service.ended).toBe(1);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(service.stderr()).toMatch(/^The embedded DynamoDB exited and could not be restarted\. .*\n$/);
    expect(databaseProcesses(home)).toEqual([]);
  }, 60_000);
});
