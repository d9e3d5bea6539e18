import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { stateMachineArn } from "../../local/names.ts";
import { begin, deploy, finished, newProject, nodeApp } from "../harness/app.ts";
import { type Answer, type Running, startRunning } from "../harness/service.ts";
import { runtimeOf } from "../harness/signing.ts";

let running: Running;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "release-"));
  // A slow machine can stop the execution of a command before the command reaches this limit.
  running = await startRunning(undefined, { behavior: "cloud", releaseTimeoutSeconds: 5 });
});
afterAll(async () => {
  await running.stop();
  rmSync(dir, { recursive: true, force: true });
});

const app = (releaseCommand: string) => ({
  ...nodeApp('res.end("app")'),
  "slipway.json": JSON.stringify({ releaseCommand }),
});
/** A command that adds a line to this file when it starts, and then does not end. */
const endless = (file: string) => `echo $$ >> ${file}; while :; do sleep 0.1; done`;

/** Resolves when the command has written its line. */
const hasStarted = (file: string) =>
  vi.waitFor(() => expect(existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n$/), { timeout: 80_000 });
/** Resolves when the process whose id is in this file has ended. */
async function ends(file: string): Promise<void> {
  const pid = Number(readFileSync(file, "utf8"));
  while (existsSync(`/proc/${pid}`)) await sleep(20);
}
const once = (file: string) => expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(1);

// Most of their time is the waiting of the cloud's services.
describe.concurrent("a release command", () => {
  let good: Answer["body"];
  beforeAll(async () => {
    good = await deploy(running, app(`echo $$ >> ${join(dir, "good")}`));
  });

  test("on a slow and faulty AWS a release command runs once", () => {
    expect(good).toMatchObject({ status: "ready", error: null });
    once(join(dir, "good"));
  });

  test("a release command that does not end in time is stopped, and its build ends with the reason", async () => {
    const file = join(dir, "endless");
    const build = await deploy(running, app(endless(file)));
    expect(build).toMatchObject({ status: "error" });
    expect(build.error).toContain(
      "The release command took longer than 5 seconds, so the previous version keeps serving.",
    );
    await ends(file);
    once(file);
  });

  test("an execution that is aborted leaves no release command running", async () => {
    const file = join(dir, "aborted");
    const project = await newProject(running, "aborted");
    const id = await begin(project, app(endless(file)));
    await hasStarted(file);
    const machines = new SFNClient({ ...runtimeOf(running.home), region: "us-east-1" });
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${id}`;
    await machines.send(new StopExecutionCommand({ executionArn }));
    expect((await finished(project, id)).error).toContain("interrupted on our side");
    await ends(file);
    once(file);
  });
});
