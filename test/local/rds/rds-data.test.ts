import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BatchExecuteStatementCommand,
  BeginTransactionCommand,
  CommitTransactionCommand,
  ExecuteStatementCommand,
  type ExecuteStatementCommandInput,
  RDSDataClient,
  RollbackTransactionCommand,
} from "@aws-sdk/client-rds-data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import { cacheFolder } from "../../../local/cache-folder.ts";
import { createRdsData, type RdsData } from "../../../local/rds/server.ts";
import { testKey, testKeys } from "../../harness/signing.ts";

const isEverything = process.env.SLIPWAY_TESTS === "all";
const dir = mkdtempSync(join(tmpdir(), "rds-"));
const target = {
  resourceArn: "arn:aws:rds:us-east-1:000000000000:cluster:local",
  secretArn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:local",
};
/** Longer than a busy machine needs between two statements of a transaction. */
const timeouts = { idleMs: 4_000, statementMs: 5_000 };

let data: RdsData;
let server: AwsServer;
let client: RDSDataClient;

async function open(limits = timeouts): Promise<void> {
  data = createRdsData({ dir: join(dir, "pg"), cacheDir: cacheFolder, timeouts: limits, startWaitMs: 100_000 });
  server = await startAwsServer({ raw: [data.service], credentials: testKeys });
  client = new RDSDataClient({
    endpoint: server.endpoint,
    region: "us-east-1",
    credentials: testKey,
    maxAttempts: 1,
  });
}
async function shut(): Promise<void> {
  client.destroy();
  await server.close();
  await data.close();
}
beforeAll(async () => {
  await open();
  await run("select 1");
}, 120_000);
afterAll(async () => {
  await shut();
  rmSync(dir, { recursive: true });
});

const run = (sql: string, more: Partial<ExecuteStatementCommandInput> = {}) =>
  client.send(new ExecuteStatementCommand({ ...target, sql, ...more }));
const begin = async () => (await client.send(new BeginTransactionCommand(target))).transactionId ?? "";
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => ({ name: "nothing", message: "" }),
    (error: Error) => ({ name: error.name, message: error.message }),
  );

describe("statements", () => {
  it("returns every type in the field that the Data API uses for it", async () => {
    const { records, columnMetadata } = await run(
      `select 1::int2 i, 9007199254740991::int8 l, 1.5::float8 d, 1.50::numeric n, true b, 'a:b'::text t, null z,
       '\\x00ff'::bytea x, timestamptz '2026-11-20 01:02:03.456+02' at, '{"a":1}'::json j`,
      { includeResultMetadata: true },
    );
    expect(records).toEqual([
      [
        { longValue: 1 },
        { longValue: Number.MAX_SAFE_INTEGER },
        { doubleValue: 1.5 },
        { stringValue: "1.50" },
        { booleanValue: true },
        { stringValue: "a:b" },
        { isNull: true },
        { blobValue: new Uint8Array([0, 255]) },
        { stringValue: "2026-11-19 23:02:03.456" },
        { stringValue: '{"a":1}' },
      ],
    ]);
    expect(columnMetadata?.map((column) => [column.name, column.typeName]).slice(0, 3)).toEqual([
      ["i", "int2"],
      ["l", "int8"],
      ["d", "float8"],
    ]);
  });

  it("binds parameters by name, and ignores colons in strings, comments and casts", async () => {
    const { records } = await run(
      `select :text || ':text' as "a:text", $$ :text $$, cast(:n as bigint) + :n, E'\\':n' /* :none */, :t::text -- :none`,
      {
        parameters: [
          { name: "text", value: { stringValue: "O'Brien \"\\ ☃" } },
          { name: "n", value: { longValue: 20 } },
          { name: "t", value: { stringValue: "2026-11-20 01:02:03.456" }, typeHint: "TIMESTAMP" },
        ],
      },
    );
    expect(records?.[0]).toEqual([
      { stringValue: "O'Brien \"\\ ☃:text" },
      { stringValue: " :text " },
      { longValue: 40 },
      { stringValue: "':n" },
      { stringValue: "2026-11-20 01:02:03.456" },
    ]);
  });

  it("treats a string without a hint as varchar, so that a forgotten cast fails as on AWS", async () => {
    await run("create table hinted (j json, f float8)");
    const value = { stringValue: "{}" };
    const insert = "insert into hinted (j) values (:j)";
    expect((await refusal(run(insert, { parameters: [{ name: "j", value }] }))).message).toMatch(/SQLState: 42804$/);
    await run(insert, { parameters: [{ name: "j", value, typeHint: "JSON" }] });
    const { numberOfRecordsUpdated } = await run("insert into hinted (f) values (:f), (:f)", {
      parameters: [{ name: "f", value: { doubleValue: 1e300 } }],
    });
    expect(numberOfRecordsUpdated).toBe(2);
    const { formattedRecords } = await run("select f, j from hinted where j is null", { formatRecordsAs: "JSON" });
    expect(JSON.parse(formattedRecords ?? "")).toEqual([
      { f: 1e300, j: null },
      { f: 1e300, j: null },
    ]);
  });

  it("returns errors with AWS's messages and the SQLSTATE", async () => {
    await run("create table twice (a int primary key)");
    await run("insert into twice values (1)");
    expect(await refusal(run("insert into twice values (1)"))).toEqual({
      name: "DatabaseErrorException",
      message:
        'ERROR: duplicate key value violates unique constraint "twice_pkey"\n  Detail: Key (a)=(1) already exists.; SQLState: 23505',
    });
    expect((await refusal(run("select 1; select 2"))).name).toBe("ValidationException");
    expect((await refusal(run("select :gone"))).name).toBe("BadRequestException");
    expect((await refusal(run("commit"))).name).toBe("BadRequestException");
    expect((await refusal(run(""))).name).toBe("ValidationException");
  });

  it("refuses requests and results above AWS's size limits", async () => {
    expect((await refusal(run("select repeat('x', 65537)"))).name).toBe("UnsupportedResultException");
    const many = "select repeat('x', 60000) from generate_series(1, 18)";
    expect((await refusal(run(many))).name).toBe("UnsupportedResultException");
    expect((await run("select repeat('x', 60000) from generate_series(1, 17)")).records).toHaveLength(17);
    expect((await refusal(run(`select '${"x".repeat(65_536)}'`))).name).toBe("ValidationException");
  });

  it("runs a batch once per parameter set", async () => {
    await run("create table batched (a int)");
    const parameterSets = [1, 2, 3].map((longValue) => [{ name: "a", value: { longValue } }]);
    await client.send(
      new BatchExecuteStatementCommand({ ...target, sql: "insert into batched values (:a)", parameterSets }),
    );
    expect((await run("select sum(a) from batched")).records).toEqual([[{ longValue: 6 }]]);
  });
});

describe("transactions", () => {
  it("keeps what was committed and nothing of what was rolled back", async () => {
    await run("create table kept (a int)");
    const first = await begin();
    await run("insert into kept values (1)", { transactionId: first });
    await client.send(new CommitTransactionCommand({ ...target, transactionId: first }));
    const second = await begin();
    await run("insert into kept values (2)", { transactionId: second });
    await client.send(new RollbackTransactionCommand({ ...target, transactionId: second }));
    expect((await run("select a from kept")).records).toEqual([[{ longValue: 1 }]]);
    expect((await refusal(run("select 1", { transactionId: second }))).name).toBe("TransactionNotFoundException");
  });

  it("runs statements outside an open transaction after it, in their order", async () => {
    await run("create table queued (a int)");
    const id = await begin();
    const waiting = Promise.all([1, 2, 3].map((n) => run(`insert into queued values (${n})`)));
    const late = begin().then(async (transactionId) => {
      const seen = await run("select array_agg(a)::text from queued", { transactionId });
      await client.send(new CommitTransactionCommand({ ...target, transactionId }));
      return seen.records;
    });
    await run("insert into queued values (0)", { transactionId: id });
    expect((await run("select count(*) from queued", { transactionId: id })).records).toEqual([[{ longValue: 1 }]]);
    await client.send(new CommitTransactionCommand({ ...target, transactionId: id }));
    await waiting;
    expect(await late).toEqual([[{ stringValue: "{0,1,2,3}" }]]);
  });

  it("refuses to commit a transaction in which a statement failed", async () => {
    await run("create table aborted (a int)");
    const transactionId = await begin();
    await run("insert into aborted values (1)", { transactionId });
    await refusal(run("select 1/0", { transactionId }));
    expect((await refusal(run("select 1", { transactionId }))).message).toMatch(/25P02/);
    const commit = client.send(new CommitTransactionCommand({ ...target, transactionId }));
    expect((await refusal(commit)).message).toMatch(/25P02/);
    expect((await run("select * from aborted")).records).toEqual([]);
  });

  it("rolls back a transaction after its idle time", async () => {
    await run("create table idle (a int)");
    const transactionId = await begin();
    await run("insert into idle values (1)", { transactionId });
    expect((await run("select count(*) from idle")).records).toEqual([[{ longValue: 0 }]]);
    expect((await refusal(run("select 1", { transactionId }))).name).toBe("TransactionNotFoundException");
  });
});

describe("durability", () => {
  it("keeps its data after a restart", async () => {
    await run("create table lasting (a text)");
    await run("insert into lasting values ('here')");
    await shut();
    cpSync(join(dir, "pg"), join(dir, "killed"), { recursive: true });
    // For the statements below that do not end; they compute until then, because PGlite waits by computing.
    await open({ ...timeouts, statementMs: 2_000 });
    expect((await run("select a from lasting")).records).toEqual([[{ stringValue: "here" }]]);
  });

  /** Ends the process that makes a folder after it has copied the folder of the cache, before it gives the copy its name. */
  async function killAfterCopying(folder: string): Promise<void> {
    const preload = join(import.meta.dirname, "kill-at-write.cjs");
    const child = spawn(
      process.execPath,
      ["--input-type=module", "-e", makerOf({ dir: folder, cacheDir: cacheFolder })],
      {
        stdio: "ignore",
        // The first write makes the folder, the second one is the copy.
        env: { ...process.env, FOLDER: folder, KILL_AT: "2", NODE_OPTIONS: `--require ${JSON.stringify(preload)}` },
      },
    );
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  }

  /** Ends the process that makes a folder while PostgreSQL writes its first files. */
  async function killWhileWriting(folder: string): Promise<void> {
    const child = spawn(process.execPath, ["--input-type=module", "-e", makerOf({ dir: folder })], { stdio: "ignore" });
    while (!isBegun(folder) && child.exitCode === null) await sleep(20);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  const isBegun = (folder: string) => existsSync(`${folder}.new`) && readdirSync(`${folder}.new`).length > 3;
  const makerOf = (options: object) => `
    import { createRdsData } from ${JSON.stringify(new URL("../../../local/rds/server.ts", import.meta.url).href)};
    createRdsData(${JSON.stringify(options)}).service({ method: "POST", path: "/Execute",
      query: new URLSearchParams(), headers: {}, body: Buffer.from(${JSON.stringify(JSON.stringify({ ...target, sql: "select 1" }))}) });`;
  // PostgreSQL computes for five seconds before it writes its first file, so that SLIPWAY_TESTS=all alone waits for it.
  const kills = { "has copied it": killAfterCopying, ...(isEverything && { "writes it": killWhileWriting }) };

  it.each(Object.entries(kills))(
    "creates its folder completely or not at all, also with a SIGKILL when it %s",
    async (_, kill) => {
      const folder = join(mkdtempSync(join(dir, "unborn-")), "pg");
      await kill(folder);
      expect(existsSync(folder)).toBe(false);
      expect(isBegun(folder)).toBe(true);
      // From the cache, which a whole run of the same steps has filled: a new folder costs five seconds of processor time.
      const again = createRdsData({ dir: folder, cacheDir: cacheFolder, startWaitMs: 100_000 });
      await again.prepare();
      expect(existsSync(folder)).toBe(true);
      const body = Buffer.from(JSON.stringify({ ...target, sql: "select 1" }));
      const request = { method: "POST", path: "/Execute", query: new URLSearchParams(), headers: {}, body };
      expect((await again.service(request))?.status).toBe(200);
      await again.close();
      expect(existsSync(`${folder}.new`)).toBe(false);
    },
    120_000,
  );

  it("keeps committed statements, and nothing of an open transaction, after a SIGKILL", async () => {
    const writer = `
      import { createRdsData } from ${JSON.stringify(new URL("../../../local/rds/server.ts", import.meta.url).href)};
      const { service } = createRdsData({ dir: ${JSON.stringify(join(dir, "killed"))}, startWaitMs: 100_000 });
      const call = async (path, more) => {
        const { status, body } = await service({ method: "POST", path, query: new URLSearchParams(), headers: {},
          body: Buffer.from(JSON.stringify({ ...${JSON.stringify(target)}, ...more })) });
        if (status !== 200) throw new Error(path + " answered " + status + ": " + body);
        return JSON.parse(body);
      };
      process.on("unhandledRejection", () => process.exit(1));
      await call("/Execute", { sql: "create table k (a int)" });
      for (let a = 0; a < 20; a += 1) await call("/Execute", { sql: "insert into k values (" + a + ")" });
      const { transactionId } = await call("/BeginTransaction", {});
      await call("/Execute", { sql: "insert into k values (1000)", transactionId });
      process.stdout.write("written");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", writer], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = await once(child.stdout, "data");
    expect(String(said)).toBe("written");
    child.kill("SIGKILL");
    await once(child, "exit");
    const again = createRdsData({ dir: join(dir, "killed"), startWaitMs: 100_000 });
    const body = Buffer.from(JSON.stringify({ ...target, sql: "select count(*), max(a) from k" }));
    const answer = await again.service({
      method: "POST",
      path: "/Execute",
      query: new URLSearchParams(),
      headers: {},
      body,
    });
    await again.close();
    expect(JSON.parse(String(answer?.body))).toMatchObject({ records: [[{ longValue: 20 }, { longValue: 19 }]] });
  }, 60_000);
});

describe("a statement that does not end", () => {
  it("times out, and the database keeps its data", async () => {
    await run("create table before_hang (a int)");
    const endless = "do 'begin loop end loop; end'";
    expect((await refusal(run(endless))).name).toBe("StatementTimeoutException");
    expect((await run("select count(*) from before_hang")).records).toEqual([[{ longValue: 0 }]]);
  }, 60_000);

  it("ends its transaction, whose later statements are refused", async () => {
    await run("create table lost (a int)");
    const transactionId = await begin();
    await refusal(run("select pg_sleep(1000)", { transactionId }));
    const insert = run("insert into lost values (1)", { transactionId });
    expect((await refusal(insert)).name).toBe("TransactionNotFoundException");
    const commit = client.send(new CommitTransactionCommand({ ...target, transactionId }));
    expect((await refusal(commit)).name).toBe("TransactionNotFoundException");
    expect((await run("select count(*) from lost")).records).toEqual([[{ longValue: 0 }]]);
  }, 60_000);
});
