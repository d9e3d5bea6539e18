import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statementSecondsMax } from "../../../api/tables.ts";
import { cacheFolder } from "../../../local/cache-folder.ts";
import { createRdsData, startWaitMsDefault } from "../../../local/rds/server.ts";

const home = mkdtempSync(join(tmpdir(), "rds-kill-"));
const dir = join(home, "pg");
/** Making the first folder of a machine takes a minute when it is busy. */
const startWaitMs = 100_000;
const target = {
  resourceArn: "arn:aws:rds:us-east-1:000000000000:cluster:local",
  secretArn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:local",
};

function executeRequest(sql: string) {
  const body = Buffer.from(JSON.stringify({ ...target, sql }));
  return { method: "POST", path: "/Execute", query: new URLSearchParams(), headers: {}, body };
}

/** Opens the folder as the next service would, and returns the answers to these statements. */
async function nextService(...statements: string[]) {
  const data = createRdsData({ dir, cacheDir: cacheFolder, startWaitMs });
  const answers: { status: number | undefined; body: string }[] = [];
  for (const sql of statements) {
    const answer = await data.service(executeRequest(sql));
    answers.push({ status: answer?.status, body: String(answer?.body) });
  }
  await data.close();
  return answers;
}

/** Starts PostgreSQL in its own process and counts its writes; returns the signal or code that ended the process. */
async function startElsewhere(environment: Record<string, string>): Promise<NodeJS.Signals | number> {
  const module = new URL("../../../local/rds/server.ts", import.meta.url).href;
  const script = `
    import { createRdsData } from ${JSON.stringify(module)};
    const body = Buffer.from(${JSON.stringify(JSON.stringify({ ...target, sql: "select 1" }))});
    const { status } = await createRdsData({ dir: ${JSON.stringify(dir)}, startWaitMs: ${startWaitMs} }).service({ method: "POST", path: "/Execute",
      query: new URLSearchParams(), headers: {}, body });
    process.exit(status === 200 ? 0 : 1);`;
  const preload = join(import.meta.dirname, "kill-at-write.cjs");
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: "ignore",
    env: { ...process.env, ...environment, FOLDER: dir, NODE_OPTIONS: `--require ${JSON.stringify(preload)}` },
  });
  const [code, signal] = await once(child, "exit");
  return signal ?? code;
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

const sampledMax = 6;

/** The pid file's writes, which come first, and a few of the others; a failed test names the chosen ones. */
function sample(points: readonly number[]): number[] {
  const rest = points.slice(2);
  const chosen = new Set(points.slice(0, 2));
  while (chosen.size < Math.min(sampledMax, points.length)) chosen.add(rest[randomInt(rest.length)] ?? 0);
  return [...chosen];
}

beforeAll(async () => {
  const [made] = await nextService("create table lasting as select 42 as a");
  expect(made?.status).toBe(200);
}, 120_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a database whose service was killed while PostgreSQL started", () => {
  it("starts again, regardless of which file was being written", async () => {
    const traceFile = join(home, "trace");
    expect(await startElsewhere({ TRACE: traceFile })).toBe(0);
    const trace = readFileSync(traceFile, "utf8").trimEnd().split("\n");
    expect(trace).toContain("create postmaster.pid");
    for (const [index, point] of sample(killPoints(trace)).entries()) {
      const killed = await startElsewhere({ KILL_AT: String(point) });
      expect(killed, `killed after write ${point}, ${trace[point - 1]}`).toBe("SIGKILL");
      // In every second case the recovery from the first kill is killed too.
      if (index % 2 === 0) await startElsewhere({ KILL_AT: String(point) });
      const [answer] = await nextService("select a from lasting");
      expect(answer, `after a kill at write ${point}, ${trace[point - 1]}`).toMatchObject({ status: 200 });
    }
  }, 240_000);

  it("starts again when its pid file was left empty or half written", async () => {
    for (const left of ["", "-42\n/pglite"]) {
      writeFileSync(join(dir, "postmaster.pid"), left);
      expect((await nextService("select a from lasting"))[0]).toMatchObject({ status: 200 });
    }
    expect(existsSync(join(dir, "postmaster.pid"))).toBe(false);
  }, 60_000);
});

describe("a PostgreSQL that does not start", () => {
  it("is tried again by the next call, and does not delay the end of the service", async () => {
    const control = join(dir, "global", "pg_control");
    const sound = readFileSync(control);
    writeFileSync(control, "");
    const data = createRdsData({ dir, startWaitMs });
    const failed = await data.service(executeRequest("select 1"));
    expect(failed?.status).toBe(500);
    const closing = performance.now();
    await data.close();
    expect(performance.now() - closing).toBeLessThan(1_000);

    const again = createRdsData({ dir, startWaitMs });
    expect((await again.service(executeRequest("select 1")))?.status).toBe(500);
    writeFileSync(control, sound);
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
      expect(tries).toBeLessThan(20_000);
    }
    await data.close();
  }, 60_000);
});
