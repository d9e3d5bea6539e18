import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { finished, upload, zipOf } from "../harness/app.ts";
import { callAt } from "../harness/call.ts";
import type { Running, Seed } from "../harness/service.ts";
import { startTraffic } from "../harness/traffic.ts";

const run = promisify(execFile);
const root = new URL("../..", import.meta.url).pathname;

interface Started {
  child: ChildProcess;
  seed: Seed;
  output(): string;
}

/** The commands of the README, and the same without npm, whose own work is a tenth of a second: a few runs of it prove it. */
const start = {
  npm: ["npm", "start"],
  node: ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=4", "local/main.ts"],
};
const deploy = {
  npm: ["npm", "run", "--silent", "slipway", "--"],
  node: ["node", "--disable-warning=ExperimentalWarning", "cli/main.ts"],
};

/** Starts the service and waits for its ready line. */
async function startService([program = "", ...words]: string[], home: string, port: string): Promise<Started> {
  const child = spawn(program, words, {
    cwd: root,
    env: { ...process.env, SLIPWAY_HOME: home, PORT: port, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const collect = (chunk: Buffer) => {
    text += chunk.toString();
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  for (let tries = 0; !/^Slipway is ready at http:\/\/127\.0\.0\.1:\d+$/m.test(text); tries += 1) {
    if (child.exitCode !== null || tries > 2_000) throw new Error(`The service did not start: ${text}`);
    await sleep(50);
  }
  return { child, seed: JSON.parse(readFileSync(join(home, "local.json"), "utf8")), output: () => text };
}

const ended = (child: ChildProcess) =>
  child.exitCode === null && child.signalCode === null
    ? new Promise((resolve) => child.once("exit", resolve))
    : undefined;

/** The pid of the service itself, which npm started. */
const servicePid = (home: string) => Number(readFileSync(join(home, "lock.pid"), "utf8"));

/** The processes whose command line contains this data folder. */
async function processesOf(home: string): Promise<string[]> {
  const { stdout } = await run("ps", ["-eo", "pid,args"]);
  return stdout.split("\n").filter((line) => line.includes(home) && !line.includes("ps -eo"));
}

describe("the steps of the README", () => {
  const home = mkdtempSync(join(tmpdir(), "slipway-e2e-"));
  const example = (name: string) => join(root, "examples", name);
  let started: Started;
  let running: Pick<Running, "call" | "project">;

  const slipway = ([program = "", ...words]: string[], ...args: string[]) =>
    run(program, [...words, ...args], {
      cwd: root,
      env: { ...process.env, SLIPWAY_HOME: home, NO_COLOR: "1" },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        text: error.stdout + error.stderr,
      }),
    );

  const use = (fresh: Started) => {
    started = fresh;
    const { seed } = fresh;
    running = {
      project: `/organizations/${seed.organizationId}/projects/${seed.projectId}`,
      call: (method, path, options) =>
        callAt(seed.baseUrl, `${seed.accessKey}:${seed.secretKey}`, method, path, options),
    };
  };
  const address = async () => (await running.call("GET", `${running.project}/endpoints`)).body.endpoints[0];

  beforeAll(async () => use(await startService(start.npm, home, "0")));
  afterAll(async () => {
    started.child.kill("SIGTERM");
    await ended(started.child);
    rmSync(home, { recursive: true, force: true });
  });

  test("an app with the SDK calls the service as itself, without a key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "slipway-e2e-identity-"));
    await build({
      entryPoints: [join(example("own-identity"), "app.js")],
      outfile: join(folder, "server.js"),
      alias: { "slipway-sdk": join(root, "sdk/node.ts") },
      bundle: true,
      // As small as bundlers of apps make it: the service reads all of it, and so does the app's process.
      minify: true,
      mainFields: ["module", "main"],
      platform: "node",
      format: "esm",
    });
    cpSync(join(example("own-identity"), "package.json"), join(folder, "package.json"));
    expect(await slipway(deploy.node, "deploy", folder)).toMatchObject({ code: 0 });
    expect(await (await fetch(await address())).text()).toBe("This app belongs to Local.\n");
    expect((await running.call("GET", `${running.project}/credentials`)).body.credentials).toEqual([]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("deploys the Node.js example and prints its address", async () => {
    const { code, text } = await slipway(deploy.npm, "deploy", example("node-hello"), "--title", "first");
    expect(text).toContain(await address());
    expect(code).toBe(0);
    expect((await fetch(await address())).status).toBe(200);
  });

  test("deploying a broken version exits with code 1 and prints its output, and the old version answers every request", async () => {
    const traffic = startTraffic(await address());
    const { code, text } = await slipway(deploy.npm, "deploy", example("crashes"));
    const seen = await traffic.stop();
    expect(code).toBe(1);
    expect(text).toMatch(/exited with code 1/);
    expect(seen.failures).toEqual([]);
  });

  test("a second service on the same folder or port does not start and prints the reason", async () => {
    const second = (env: Record<string, string>) =>
      run("node", start.node.slice(1), {
        cwd: root,
        env: { ...process.env, ...env },
      }).catch((error: { code: number; stderr: string }) => error);
    const sameHome = await second({ SLIPWAY_HOME: home, PORT: "0" });
    expect(sameHome).toMatchObject({ code: 1, stderr: expect.stringContaining("is in use by process") });
    const elsewhere = mkdtempSync(join(tmpdir(), "slipway-e2e-second-"));
    const samePort = await second({ SLIPWAY_HOME: elsewhere, PORT: new URL(started.seed.baseUrl).port });
    expect(samePort).toMatchObject({ code: 1, stderr: expect.stringContaining("is in use by another program") });
    rmSync(elsewhere, { recursive: true, force: true });
  });

  test("after a SIGKILL during a build the app is served again and the project can be deployed", async () => {
    const greeting = async (url: string) => (await (await fetch(url)).text()).split(", up for")[0];
    const before = await greeting(await address());
    const source = mkdtempSync(join(tmpdir(), "slipway-e2e-app-"));
    cpSync(example("node-hello"), source, { recursive: true });
    const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
    manifest.scripts.build = 'node -e "setTimeout(() => {}, 3000)"';
    writeFileSync(join(source, "package.json"), JSON.stringify(manifest));
    const files = Object.fromEntries(
      ["package.json", "package-lock.json", "server.js"].map((name) => [name, readFileSync(join(source, name))]),
    );
    const created = await running.call("POST", `${running.project}/builds`);
    await upload(created.body.url, await zipOf(files));
    await sleep(800);
    const url = await address();
    process.kill(servicePid(home), "SIGKILL");
    await ended(started.child);
    use(await startService(start.node, home, new URL(started.seed.baseUrl).port));
    expect(await address()).toBe(url);
    expect(await greeting(url)).toBe(before);
    const build = await finished(running as Running, created.body.build.id);
    expect(["ready", "error"]).toContain(build.status);
    const next = await running.call("POST", `${running.project}/builds`);
    expect(next.status).toBe(201);
    process.kill(servicePid(home), "SIGKILL");
    await ended(started.child);
    use(await startService(start.node, home, new URL(started.seed.baseUrl).port));
    expect(
      (
        await upload(
          next.body.url,
          await zipOf({ ...files, "package.json": readFileSync(join(example("node-hello"), "package.json")) }),
        )
      ).status,
    ).toBe(200);
    expect((await finished(running as Running, next.body.build.id)).status).toBe("ready");
    rmSync(source, { recursive: true, force: true });
  });

  // The service gives itself five seconds (local/main.ts).
  test("SIGTERM ends everything and leaves no process behind", async () => {
    started.child.kill("SIGTERM");
    await ended(started.child);
    await expect.poll(() => processesOf(home)).toEqual([]);
  });
});
