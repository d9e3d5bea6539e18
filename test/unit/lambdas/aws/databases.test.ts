import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import timers from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, vi } from "vitest";
import { type DatabaseRunner, databaseRunner } from "../../../../lambdas/aws/databases.ts";
import { errorResponse } from "../../../../lambdas/http/errors.ts";

interface Sent {
  path: string | undefined;
  body: Record<string, unknown>;
  /** When it came, in milliseconds of the simulated clock. */
  at: number;
}
interface Reply {
  error?: string;
  [field: string]: unknown;
}

/** The calls that the Data API got. */
let sent: Sent[];
/** The Data API's answer to a call; undefined keeps the caller waiting. */
let answer: (call: Sent) => Reply | undefined;

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const call = { path: request.url, body: JSON.parse(String(Buffer.concat(chunks))), at: Date.now() };
  sent.push(call);
  const reply = answer(call);
  if (!reply) return;
  const { error, ...body } = reply;
  response.writeHead(error === undefined ? 200 : 400, { ...(error !== undefined && { "x-amzn-errortype": error }) });
  response.end(JSON.stringify(body));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const now = Date.parse("2026-11-20T00:00:00Z");
const target = { resourceArn: "arn:cluster", secretArn: "arn:secret" };
beforeEach(() => {
  vi.stubEnv("AWS_ENDPOINT_URL_RDS_DATA", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now });
  sent = [];
  answer = ({ path }) => (path === "/BeginTransaction" ? { transactionId: "t1" } : {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Made by each test itself, with the address that it has set. */
const databases = (): DatabaseRunner =>
  databaseRunner({
    DATABASE_ARN: target.resourceArn,
    DATABASE_SECRET_ARN: target.secretArn,
    DATABASE_WAIT_SECONDS: "20",
  });

const statement = { sql: "select :p1", values: ["a", null] };
const until = now + 5_000;

/** The end of work, in words. */
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => error,
  );

describe("a statement", () => {
  const parameters = [
    { name: "p1", value: { stringValue: "a" } },
    { name: "p2", value: { isNull: true } },
  ];
  const body = { ...target, database: "slipway", sql: "select :p1", parameters, includeResultMetadata: true };

  it("is sent with its texts and nulls, in no transaction", async () => {
    await databases().run(statement, until);
    expect(sent).toEqual([{ path: "/Execute", body, at: now }]);
  });

  test.each([
    [now + 5_000, now + 5_000],
    [now + 60_000, now + 20_000],
  ])("of a request that ends at %d must be done by then, and within 20 s", async (requestUntil, statementUntil) => {
    await databases().run({ ...statement, bounded: true }, requestUntil);
    const limit = { name: "until", value: { longValue: statementUntil } };
    expect(sent[0]?.body).toEqual({ ...body, parameters: [...parameters, limit] });
  });

  it("gives rows by the labels of their columns", async () => {
    const columnMetadata = [{ label: "a", name: "one" }, { label: "b", name: "two" }, { name: "c" }];
    const records = [
      [{ stringValue: "" }, { longValue: 0 }, { isNull: true }],
      [{ isNull: true }, { longValue: 7 }, { stringValue: "x" }],
    ];
    answer = () => ({ columnMetadata, records });
    expect(await databases().run(statement, until)).toEqual([
      { a: "", b: 0, c: null },
      { a: null, b: 7, c: "x" },
    ]);
  });

  it("may give no rows", async () => {
    expect(await databases().run(statement, until)).toEqual([]);
  });

  it("that is refused is sent once", async () => {
    answer = () => ({ error: "InternalServerErrorException", message: "busy" });
    await outcome(databases().run(statement, until));
    expect(sent).toHaveLength(1);
  });

  test.each([
    ["DatabaseErrorException", "ERROR: no schema; SQLState: 3F000", "3F000", null],
    ["BadRequestException", 'ERROR: duplicate violates unique constraint "$u1"; SQLState: 23505', "23505", "$u1"],
    ["DatabaseErrorException", 'ERROR: constraint "a b"; Position: 1; SQLState: SW003 more', "SW003", "a b"],
  ])("that PostgreSQL refuses (%s: %s) tells its SQLSTATE and constraint only", async (error, message, state, name) => {
    answer = () => ({ error, message });
    const refused = await outcome(databases().run(statement, until));
    expect(refused).toMatchObject({ name: "DatabaseError", state, constraint: name });
    expect(refused.message).toBe(`PostgreSQL refused a statement with ${state}`);
  });

  test.each([
    ["BadRequestException", "The parameter is unknown"],
    ["DatabaseErrorException", "The connection was closed"],
    ["AccessDeniedException", "No permission for SQLState: 42501"],
  ])("that the Data API refuses (%s: %s) is an error of the service", async (name, message) => {
    answer = () => ({ error: name, message });
    expect(await outcome(databases().run(statement, until))).toMatchObject({ name, message });
  });
});

describe("a call that is not answered", () => {
  beforeEach(() => {
    answer = () => undefined;
  });

  it("ends two seconds after its request has to end", async () => {
    const began = performance.now();
    // The request should have ended 1.95 s ago.
    expect(await outcome(databases().run(statement, now - 1_950))).toMatchObject({ name: "DatabaseTimeout" });
    expect(performance.now() - began).toBeGreaterThan(45);
    expect(await outcome(databases().run(statement, now - 9_000))).toMatchObject({ name: "DatabaseTimeout" });
  });

  it("ends two seconds after the longest statement", async () => {
    let end: unknown;
    const came = Promise.withResolvers<void>();
    answer = () => void came.resolve();
    const work = outcome(databases().run(statement, now + 100_000)).then((error) => {
      end = error;
    });
    await came.promise;
    await vi.advanceTimersByTimeAsync(21_990);
    await timers.setImmediate();
    expect(end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1_000);
    await work;
    expect(end).toMatchObject({ name: "TimeoutError" });
  });
});

describe("a paused database", () => {
  beforeEach(() => {
    // Each pause passes at once.
    vi.spyOn(timers, "setTimeout").mockImplementation(async (pauseMs) => {
      if (sent.length > 20) throw new Error("The database is asked too often");
      vi.setSystemTime(Date.now() + (pauseMs ?? 0));
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const times = () => sent.map(({ at }) => at - now);

  it("is asked again after pauses of up to 2 s, and the caller is told when to come again", async () => {
    answer = () => ({ error: "DatabaseResumingException", message: "resuming" });
    const error = await outcome(databases().run(statement, now + 8_000));
    const { statusCode, headers, body } = errorResponse(error, "req_1", undefined);
    expect([statusCode, headers?.["retry-after"], JSON.parse(body ?? "").code]).toEqual([
      503,
      "10",
      "database_resuming",
    ]);
    expect(times()).toEqual([0, 250, 750, 1_750, 3_750, 5_750, 7_750]);
  });

  it("is asked as long as the request lasts", async () => {
    answer = () => ({ error: "DatabaseResumingException", message: "resuming" });
    await outcome(databases().run(statement, now + 750));
    expect(times()).toEqual([0, 250, 750]);
  });

  it("gets the statement again, with the time that is left", async () => {
    answer = () => (sent.length < 3 ? { error: "DatabaseResumingException", message: "resuming" } : {});
    await databases().run({ ...statement, bounded: true }, now + 30_000);
    expect(times()).toEqual([0, 250, 750]);
    const limits = sent.map(({ body }) => (body.parameters as object[]).at(-1));
    expect(limits).toEqual(
      [0, 250, 750].map((after) => ({ name: "until", value: { longValue: now + after + 20_000 } })),
    );
  });
});

describe("statements that belong together", () => {
  const [first, second] = ["select 1", "select 2"].map((sql) => ({ sql, values: [] }));
  const both = [first, second].filter((one) => one !== undefined);
  const calls = () => sent.map(({ path, body: { transactionId, sql } }) => [path, transactionId, sql].filter(Boolean));
  const begin = ["/BeginTransaction"];
  const one = ["/Execute", "t1", "select 1"];
  const two = ["/Execute", "t1", "select 2"];

  it("run in one transaction", async () => {
    await databases().runAll(both, until);
    expect(calls()).toEqual([begin, one, two, ["/CommitTransaction", "t1"]]);
    expect(sent[0]?.body).toEqual({ ...target, database: "slipway" });
    expect(sent[3]?.body).toEqual({ ...target, transactionId: "t1" });
  });

  test.each([
    ["select 2", "/Execute", [begin, one, two]],
    ["the commit", "/CommitTransaction", [begin, one, two, ["/CommitTransaction", "t1"]]],
  ])("leave nothing when %s fails, whether the rollback is answered or not", async (_, failing, before) => {
    for (const failsRollback of [false, true]) {
      sent = [];
      answer = ({ path, body }) => {
        if (path === "/BeginTransaction") return { transactionId: "t1" };
        if (path === "/RollbackTransaction") return failsRollback ? { error: "NotFoundException" } : {};
        const fails = path === failing && body.sql !== "select 1";
        return fails ? { error: "DatabaseErrorException", message: "SQLState: 40001" } : {};
      };
      const failed = await outcome(databases().runAll(both, until));
      expect(failed).toMatchObject({ name: "DatabaseError", state: "40001" });
      expect(calls()).toEqual([...before, ["/RollbackTransaction", "t1"]]);
      expect(sent.at(-1)?.body).toEqual({ ...target, transactionId: "t1" });
    }
  });

  it("do not run outside a transaction", async () => {
    answer = () => ({});
    expect(await outcome(databases().runAll(both, until))).toMatchObject({
      message: "The Data API gave no transaction",
    });
    expect(calls()).toEqual([begin]);
  });
});

test("a request lasts as long as the environment says", () => {
  expect(databases().requestMs).toBe(20_000);
});
