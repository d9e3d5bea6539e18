import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startDynamoDb } from "../../local/dynamodb/server.ts";

/** One measured ratio and its upper bound; without a bound it is only printed. */
export interface Measured {
  name: string;
  ratio: number;
  bound: number | null;
  detail: string;
}

export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** The median time of `rounds` runs in milliseconds, after one warm-up run. */
export async function medianMs(rounds: number, run: () => Promise<void>): Promise<number> {
  await run();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await run();
    times.push(performance.now() - began);
  }
  return median(times);
}

export interface ServiceProcess {
  home: string;
  pid: number;
  baseUrl: string;
  project: string;
  key: string;
  /** From the start of the process to its ready line, in milliseconds. */
  readyMs: number;
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, "..", "..");

/** Starts the local service in its own process, with the command of `npm start`. */
export async function startProcess(
  home = mkdtempSync(join(tmpdir(), "slipway-bench-")),
  variables: Record<string, string> = {},
): Promise<ServiceProcess> {
  const began = performance.now();
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const PATH = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;
  const child = spawn("/bin/sh", ["-c", scripts.start], {
    cwd: root,
    env: { ...process.env, PATH, SLIPWAY_HOME: home, PORT: "0", SLIPWAY_CONTAINERS: "none", ...variables },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  while (!text.includes("Slipway is ready")) {
    if (child.exitCode !== null) throw new Error("The service did not start");
    await sleep(2);
  }
  const readyMs = performance.now() - began;
  const seed = JSON.parse(readFileSync(join(home, "local.json"), "utf8"));
  return {
    home,
    pid: Number(child.pid),
    baseUrl: seed.baseUrl,
    project: `${seed.baseUrl}/organizations/${seed.organizationId}/projects/${seed.projectId}`,
    key: `${seed.accessKey}:${seed.secretKey}`,
    readyMs,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

export interface ServiceOnTable extends ServiceProcess {
  /** The address of its DynamoDB, which a service that starts its own does not publish. */
  table: string;
}

/** Like `startProcess`, with a DynamoDB that the benchmark can call too; a later start with the same home uses the same rows. */
export async function startOnTable(): Promise<ServiceOnTable> {
  const home = mkdtempSync(join(tmpdir(), "slipway-bench-"));
  const table = await startDynamoDb({ file: join(home, "table.db"), tableName: "slipway" });
  const service = await startProcess(home, { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint });
  const stop = async () => {
    await service.stop();
    await table.close();
  };
  return { ...service, stop, table: table.endpoint };
}

/** Waits until an address answers with this text. */
export async function untilAnswers(url: string, text: string): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(url);
      if ((await response.text()) === text) return;
    } catch {
      // Not listening yet.
    }
    await sleep(3);
  }
}

/** The JSON body of an answer, without validation. */
// biome-ignore lint/suspicious/noExplicitAny: a benchmark reads what it has asked for
export async function jsonOf(response: Promise<Response>): Promise<any> {
  return (await response).json();
}
