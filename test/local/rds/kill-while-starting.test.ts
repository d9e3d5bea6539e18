import { randomInt } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { statementSecondsMax } from "../../../api/tables.ts";
import { cacheFolder } from "../../../local/cache-folder.ts";
import { createRdsData, startWaitMsDefault } from "../../../local/rds/server.ts";

const home = mkdtempSync(join(tmpdir(), "rds-kill-"));
const dir = join(home, "pg");
/** Making the first folder of a machine takes a minute when it is busy. */
const startWaitMs = 100_000;
/** The answer to a read of the table that every folder holds. */
const sound = { status: 200, body: expect.stringContaining("42") };
const target = {
  resourceArn: "arn:aws:rds:us-east-1:000000000000:cluster:local",
  secretArn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:local",
};

function executeRequest(sql: string) {
  const body = Buffer.from(JSON.stringify({ ...target, sql }));
  return { method: "POST", path: "/Execute", query: new URLSearchParams(), headers: {}, body };
}

/** Opens the folder as the next service would. Returns the response to this statement. */
async function nextService(folder: string, sql: string) {
  const data = createRdsData({ dir: folder, cacheDir: cacheFolder, startWaitMs });
  const answer = await data.service(executeRequest(sql));
  await data.close();
  return answer;
}

/** Starts PostgreSQL on the folder and copies the folder after each of these writes. Returns all writes until the first response. */
async function watched(folder: string, copies: string, copyAt: readonly number[]): Promise<string[]> {
  const trace = join(copies, "trace");
  vi.stubEnv("NODE_OPTIONS", `--require ${JSON.stringify(join(import.meta.dirname, "kill-at-write.cjs"))}`);
  vi.stubEnv("FOLDER", folder);
  vi.stubEnv("TRACE", trace);
  vi.stubEnv("COPIES", copies);
  vi.stubEnv("COPY_AT", copyAt.join());
  const data = createRdsData({ dir: folder, startWaitMs });
  try {
    expect(await data.service(executeRequest("select a from lasting"))).toMatchObject(sound);
    return readFileSync(trace, "utf8").trimEnd().split("\n");
  } finally {
    await data.close();
    vi.unstubAllEnvs();
  }
}

/** Copies of the folder as a SIGKILL of a start leaves it after each of these writes. */
async function killed(folder: string, writes: readonly number[]): Promise<string[]> {
  const copies = mkdtempSync(join(home, "killed-"));
  await watched(folder, copies, writes);
  return writes.map((write) => join(copies, String(write)));
}

/** The numbers of the writes at which to kill: each file's creation, first and last write, and every rename and removal. */
function killPoints(trace: readonly string[]): number[] {
  const points = new Set<number>();
  const byFile = Map.groupBy(
    trace.map((line, index) => ({ line, number: index + 1 })),
    ({ line }) => line,
  );
  for (const [line, places] of byFile) {
    const [first, last] = [places[0], places.at(-1)];
    if (first) points.add(first.number);
    if (last && line.startsWith("writeSync")) points.add(last.number);
  }
  return [...points].sort((a, b) => a - b);
}

const isEverything = process.env.SLIPWAY_TESTS === "all";
const sampledMax = 4;

/** Chooses the writes of the pid file, which come first, and a few others. SLIPWAY_TESTS=all takes every write. */
function sample(points: readonly number[]): readonly number[] {
  if (isEverything) return points;
  const rest = points.slice(2);
  const chosen = new Set(points.slice(0, 2));
  while (chosen.size < Math.min(sampledMax, points.length)) chosen.add(rest[randomInt(rest.length)] ?? 0);
  return [...chosen];
}

beforeAll(async () => {
  const made = await nextService(dir, "create table lasting as select 42 as a");
  expect(made?.status).toBe(200);
}, 120_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a database whose service was killed while PostgreSQL started", () => {
  it("starts again, regardless of which file was being written", async () => {
    const same = join(home, "same");
    cpSync(dir, same, { recursive: true });
    // A start costs half a second, so these two also try a pid file that is empty and one that is half written.
    writeFileSync(join(dir, "postmaster.pid"), "");
    const trace = await watched(dir, home, []);
    expect(trace).toContain("create postmaster.pid");
    expect(existsSync(join(dir, "postmaster.pid"))).toBe(false);
    const writes = sample(killPoints(trace));
    writeFileSync(join(same, "postmaster.pid"), "-42\n/pglite");
    const folders = await killed(same, writes);
    expect(existsSync(join(same, "postmaster.pid"))).toBe(false);
    for (const [index, folder] of folders.entries()) {
      const write = writes[index] ?? 0;
      // In every second case the recovery from the first kill is killed too.
      const left = index % 2 === 0 ? (await killed(folder, [write]))[0] : undefined;
      const next = left !== undefined && existsSync(left) ? left : folder;
      const answer = await nextService(next, "select a from lasting");
      expect(answer, `killed after write ${write}, ${trace[write - 1]}`).toMatchObject(sound);
    }
  }, 240_000);
});

describe("a PostgreSQL that does not start", () => {
  it("is tried again by the next call, and does not delay the end of the service", async () => {
    const control = join(dir, "global", "pg_control");
    const intact = readFileSync(control);
    writeFileSync(control, "");
    const data = createRdsData({ dir, startWaitMs });
    const failed = await data.service(executeRequest("select 1"));
    expect(failed?.status).toBe(500);
    const closing = performance.now();
    await data.close();
    expect(performance.now() - closing).toBeLessThan(1_000);

    const again = createRdsData({ dir, startWaitMs });
    expect((await again.service(executeRequest("select 1")))?.status).toBe(500);
    writeFileSync(control, intact);
    expect((await again.service(executeRequest("select a from lasting")))?.status).toBe(200);
    await again.close();
  }, 60_000);
});

describe("a call while PostgreSQL starts", () => {
  it("waits for a small part of a client's time, so that the statement has the rest", () => {
    expect(startWaitMsDefault * 8).toBeLessThanOrEqual(statementSecondsMax * 1000);
  });

  it("is answered as on AWS while a paused cluster resumes, and the start continues", async () => {
    const data = createRdsData({ dir, startWaitMs: 1 });
    const early = await Promise.all([1, 2, 3].map(() => data.service(executeRequest("select a from lasting"))));
    for (const answer of early)
      expect(answer?.headers).toMatchObject({ "x-amzn-errortype": "DatabaseResumingException" });
    for (let tries = 0; ; tries += 1) {
      const answer = await data.service(executeRequest("select a from lasting"));
      if (answer?.status === 200) break;
      expect(tries).toBeLessThan(2_000);
      await sleep(10);
    }
    await data.close();
  }, 60_000);
});
