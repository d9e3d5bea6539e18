import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { packFolder } from "../../sdk/folder/pack.ts";
import { selectFiles } from "../../sdk/folder/select-files.ts";
import { buildCli } from "../package/cli.ts";
import { jsonOf, type Measured, median, type ServiceProcess, startProcess } from "./measure.ts";

const run = promisify(execFile);
const [starts, deployments] = [15, 7];
const example = join(import.meta.dirname, "..", "..", "examples", "node-hello");

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The start of the installed command line, compared with that of Node.js, one after the other. */
async function benchHelp(main: string): Promise<Measured> {
  const times: { help: number[]; node: number[] } = { help: [], node: [] };
  for (let round = 0; round <= starts; round += 1) {
    const help = await timed(() => run(process.execPath, [main, "--help"]));
    const node = await timed(() => run(process.execPath, ["-e", "0"]));
    if (round === 0) continue;
    times.help.push(help);
    times.node.push(node);
  }
  const [help, node] = [median(times.help), median(times.node)];
  const detail = `${help.toFixed(0)} ms against ${node.toFixed(0)} ms`;
  return { name: "slipway --help / node -e 0", ratio: help / node, bound: 3, detail };
}

/** The calls of a client without the command line. `pauseSeconds` gets the seconds that the service asks for (docs/api.md, Polling). */
async function bareDeployment(
  service: ServiceProcess,
  archive: string,
  pauseSeconds: (asked: number) => number,
): Promise<void> {
  const headers = { authorization: `Bearer ${service.key}` };
  const { build, url } = await jsonOf(fetch(`${service.project}/builds`, { method: "POST", headers }));
  const body = readFileSync(archive);
  await fetch(url, { method: "PUT", headers: { "content-type": "application/zip" }, body });
  for (;;) {
    const answer = await fetch(`${service.project}/builds/${build.id}`, { headers });
    const { status, error } = (await jsonOf(Promise.resolve(answer))).build;
    if (status === "ready") return;
    if (status === "error") throw new Error(error);
    await sleep(pauseSeconds(Number(answer.headers.get("retry-after"))) * 1000);
  }
}

/** Short enough to see when a build is ready, and not so short that it slows the build down. */
const closePollSeconds = 0.05;

/**
 * A deployment by the command line, with its start, the packing and what it shows, compared with the bare calls. The command line
 * polls a service on its own machine more often than the service asks, so it is compared with a client that does so too.
 */
async function benchOverhead(main: string, service: ServiceProcess, folder: string): Promise<Measured[]> {
  using archive = await packFolder(selectFiles(example));
  const env = { PATH: process.env.PATH, SLIPWAY_HOME: service.home, SLIPWAY_CONFIG: join(folder, "config") };
  const times: { api: number[]; close: number[]; command: number[] } = { api: [], close: [], command: [] };
  for (let round = 0; round <= deployments; round += 1) {
    const api = await timed(() => bareDeployment(service, archive.path, (asked) => asked));
    const close = await timed(() => bareDeployment(service, archive.path, () => closePollSeconds));
    const command = await timed(() => run(process.execPath, [main, "deploy", example], { env }));
    if (round === 0) continue;
    times.api.push(api);
    times.close.push(close);
    times.command.push(command);
  }
  const [api, close, command] = [median(times.api), median(times.close), median(times.command)];
  const against = (ms: number) => `${command.toFixed(0)} ms against ${ms.toFixed(0)} ms of the bare calls`;
  const name = "slipway deploy / upload to ready by the bare API";
  return [
    { name, ratio: command / api, bound: 1.15, detail: against(api) },
    { name: `${name}, polled every 50 ms`, ratio: command / close, bound: null, detail: against(close) },
  ];
}

/** What the command line adds to Node.js and to the API. */
export async function benchCommandLine(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-cli-"));
  await buildCli(folder);
  const main = join(folder, "slipway.js");
  const service = await startProcess();
  try {
    return [await benchHelp(main), ...(await benchOverhead(main, service, folder))];
  } finally {
    await service.stop();
    rmSync(service.home, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}
