import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

/** Deletes the files of all stored objects, as a user might do to free disk space. */
function removeStoredFiles(): void {
  const blobs = join(running.home, "s3", "blobs");
  for (const folder of readdirSync(blobs)) {
    for (const blob of readdirSync(join(blobs, folder))) rmSync(join(blobs, folder, blob));
  }
}

test("if a source archive was deleted, rebuild and redeploy answer 410, and other builds still work (docs/api.md, Rebuild)", async () => {
  const post = (path: string) => running.call("POST", `${running.project}${path}`);
  const first = await deploy(running, nodeApp("res.end('first')"));
  const second = await deploy(running, nodeApp("res.end('second')"));
  expect([first.status, second.status]).toEqual(["ready", "ready"]);
  removeStoredFiles();
  for (const path of ["/rebuild", `/builds/${first.id}/redeploy`]) {
    const { status, body } = await post(path);
    expect(status).toBe(410);
    expect(body).toMatchObject({ status: "Gone", code: "source_gone", message: expect.stringContaining("is gone") });
  }
  expect((await post(`/builds/${second.id}/redeploy`)).body.code).toBe("build_already_live");
  expect(await (await fetch(await address(running))).text()).toBe("second");
  expect((await deploy(running, nodeApp("res.end('third')"))).status).toBe("ready");
});
