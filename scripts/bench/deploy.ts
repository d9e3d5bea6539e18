import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../local/ecs/free-port.ts";
import { writeApp } from "./app-archive.ts";
import { jsonOf, type Measured, median, type ServiceProcess, startProcess, untilAnswers } from "./measure.ts";

const [warmUps, rounds] = [4, 11];
const pollMs = 50;

/**
 * Milliseconds from the start of the upload to the build's own time of becoming `ready`. It polls rarely, because polls
 * every few milliseconds would slow the service down; clients poll once a second (docs/api.md, Polling).
 */
export async function uploadToReady(service: ServiceProcess, archive: string): Promise<number> {
  const headers = { authorization: `Bearer ${service.key}` };
  const created = await jsonOf(fetch(`${service.project}/builds`, { method: "POST", headers }));
  const began = Date.now();
  await fetch(created.url, {
    method: "PUT",
    headers: { "content-type": "application/zip" },
    body: readFileSync(archive),
  });
  for (;;) {
    await sleep(pollMs);
    const { build } = await jsonOf(fetch(`${service.project}/builds/${created.build.id}`, { headers }));
    if (build.status === "ready") return Date.parse(build.updatedAt) - began;
    if (build.status === "error") throw new Error(build.error);
  }
}

/** The minimum work of a deployment: unpack, start, first 200. */
async function floor(archive: string, folder: string): Promise<number> {
  const port = await freePort();
  rmSync(folder, { recursive: true, force: true });
  const began = performance.now();
  execFileSync("unzip", ["-q", archive, "-d", folder]);
  const child = spawn(process.execPath, ["server.js"], { cwd: folder, env: { PORT: String(port) }, stdio: "ignore" });
  await untilAnswers(`http://127.0.0.1:${port}`, "floor");
  const took = performance.now() - began;
  child.kill("SIGKILL");
  return took;
}

/** The usual deployment script: unzip, npm ci, pm2 reload, until the new version answers. */
async function script(folder: string, archives: [string, string]): Promise<number[]> {
  const tools = join(folder, "tools");
  mkdirSync(tools, { recursive: true });
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", tools, "pm2@7"], { stdio: "ignore" });
  const pm2 = join(tools, "node_modules", ".bin", "pm2");
  const port = await freePort();
  const app = join(folder, "app");
  const env = { ...process.env, PORT: String(port), PM2_HOME: join(folder, "pm2") };
  const step = (archive: string, command: string[]) => {
    execFileSync("unzip", ["-qo", archive, "-d", app]);
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: app, stdio: "ignore" });
    execFileSync(pm2, command, { cwd: app, env, stdio: "ignore" });
  };
  mkdirSync(app);
  step(archives[0], ["start", "server.js", "--name", "bench"]);
  await untilAnswers(`http://127.0.0.1:${port}`, "one");
  const times: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const [archive, text] = round % 2 === 0 ? [archives[1], "two"] : [archives[0], "one"];
    const began = performance.now();
    step(archive, ["reload", "bench"]);
    await untilAnswers(`http://127.0.0.1:${port}`, text);
    times.push(performance.now() - began);
  }
  execFileSync(pm2, ["kill"], { env, stdio: "ignore" });
  return times;
}

/** Compares upload-to-ready of an app without dependencies with the minimum work and with the usual script. */
export async function benchDeploy(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-deploy-"));
  const path = (name: string) => join(folder, `${name}.zip`);
  for (const name of ["one", "two", "floor"]) await writeApp(path(name), name);
  const service = await startProcess();
  try {
    for (let round = 0; round < warmUps; round += 1) await uploadToReady(service, path("one"));
    const ours: number[] = [];
    const floors: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await uploadToReady(service, path(round % 2 === 0 ? "two" : "one")));
      floors.push(await floor(path("floor"), join(folder, "floor")));
    }
    const scripts = await script(folder, [path("one"), path("two")]);
    const [mine, bare, usual] = [median(ours), median(floors), median(scripts)];
    const told = (other: string, ms: number) => `${mine.toFixed(0)} ms against ${ms.toFixed(0)} ms of ${other}`;
    return [
      {
        name: "upload to ready / unzip + spawn + first 200",
        ratio: mine / bare,
        bound: 2.5,
        detail: told("the bare floor", bare),
      },
      {
        name: "upload to ready / unzip && npm ci && pm2 reload",
        ratio: mine / usual,
        bound: 0.3,
        detail: told("the script", usual),
      },
    ];
  } finally {
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
