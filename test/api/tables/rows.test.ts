import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { commandLine } from "../../unit/cli/slipway.ts";
import { startTables, type Tables } from "./fixture.ts";

let t: Tables;
const columns = [
  { name: "s", type: "string" },
  { name: "t", type: "text" },
  { name: "i", type: "integer" },
  { name: "f", type: "float" },
  { name: "b", type: "boolean" },
  { name: "d", type: "date" },
  { name: "j", type: "json" },
];
beforeAll(async () => {
  t = await startTables();
  await t.given("things", columns, [{}]);
}, 120_000);
afterAll(() => t.stop());
afterEach(() => {
  t.rds.intercept = undefined;
  t.rds.lose = undefined;
  t.rds.hold = undefined;
});

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("a row", () => {
  it("holds every column under its name, in the table's order", async () => {
    await t.given("ordered", columns);
    const { status, body } = await t.tables("POST", "/ordered/rows", { row: { i: 1 } });
    expect(status).toBe(201);
    expect(body).toEqual({
      row: {
        id: 1,
        s: null,
        t: null,
        i: 1,
        f: null,
        b: null,
        d: null,
        j: null,
        created_at: instant,
        updated_at: instant,
      },
    });
    expect(Object.keys(body.row)).toEqual(["id", "s", "t", "i", "f", "b", "d", "j", "created_at", "updated_at"]);
    expect((await t.tables("GET", "/ordered/rows/1")).body).toEqual(body);
  });

  const kept: [column: string, value: unknown][] = [
    ["s", ""],
    ["s", "☃".repeat(255)],
    ["s", "O'Brien \"\\ ; -- $1 :p1 %s\n\t\u0001\u007f"],
    ["t", "x".repeat(100_000)],
    ["i", Number.MAX_SAFE_INTEGER],
    ["i", Number.MIN_SAFE_INTEGER],
    ["f", 0.1],
    ["f", 5e-324],
    ["f", -1.7976931348623157e308],
    ["f", 3],
    ["b", false],
    ["d", "0001-01-01T00:00:00.000Z"],
    ["d", "9999-12-31T23:59:59.999Z"],
    ["d", "2024-02-29T12:00:00.001Z"],
    ["j", 0],
    ["j", ""],
    ["j", [null, true, 1.5, "\u0000\ud800", { constructor: [], "": {} }]],
    ["j", JSON.parse('{"__proto__":{"a":1}}')],
    ["j", JSON.parse(`${"[".repeat(256)}${"]".repeat(256)}`)],
    ["j", { at: "2026-11-20T01:02:03Z" }],
  ];
  test.each(kept)("gives back %s = %j as it was given", async (name, value) => {
    const created = await t.tables("POST", "/things/rows", { row: { [name]: value } });
    expect(created.status).toBe(201);
    const read = await t.tables("GET", `/things/rows/${created.body.row.id}`);
    expect(JSON.stringify(read.body.row[name])).toBe(JSON.stringify(value));
    expect(read.body).toEqual(created.body);
  });

  test.each([
    ["2026-11-20", "2026-11-20T00:00:00.000Z"],
    ["2026-11-20T01:02:03Z", "2026-11-20T01:02:03.000Z"],
    ["2026-11-20T01:02:03.4+01:30", "2026-11-19T23:32:03.400Z"],
  ])("takes the date %s as %s", async (given, shown) => {
    expect((await t.tables("POST", "/things/rows", { row: { d: given } })).body.row.d).toBe(shown);
  });

  const refused: [column: string, json: string][] = [
    ["s", "1"],
    ["s", JSON.stringify("x".repeat(256))],
    ["s", '"\\u0000"'],
    ["t", '"\\ud800"'],
    ["t", "[]"],
    ["i", "1.5"],
    ["i", '"1"'],
    ["i", "9007199254740992"],
    ["i", "true"],
    ["f", "1e400"],
    ["f", '"NaN"'],
    ["b", "1"],
    ["d", "5"],
    ["d", '"now"'],
    ["d", '"2026-02-30"'],
    ["d", '"2026-11-20T25:00:00Z"'],
    ["d", '"2026-11-20T01:02:03"'],
    ["d", '"2026-11-20T01:02:03.4567Z"'],
    ["d", '"10000-01-01T00:00:00Z"'],
    ["j", "[1e400]"],
    ["j", `${"[".repeat(300)}${"]".repeat(300)}`],
    ["id", "7"],
    ["created_at", '"2026-11-20T01:02:03Z"'],
    ["updated_at", "null"],
    ["nope", "1"],
    ["S", '"x"'],
    ["__proto__", "{}"],
    ["xmin", "1"],
    ["i = 1; drop table things; --", "1"],
  ];
  test.each(refused)("refuses %s = %s", async (name, json) => {
    const text = `{"row":{${JSON.stringify(name)}:${json}}}`;
    for (const [method, path] of [
      ["POST", "/things/rows"],
      ["PUT", "/things/rows/1"],
    ] as const) {
      const answer = await t.tables(method, path, undefined, { text });
      expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, `row.${name}`]);
    }
  });

  test.each(["{}", '{"row":null}', '{"row":[]}', '{"row":"x"}', "[]", "{"])("is not made of %s", async (text) => {
    expect((await t.tables("POST", "/things/rows", undefined, { text })).status).toBe(400);
  });

  it("obeys required, default and unique, as the database has them", async () => {
    await t.given("rules", [
      { name: "need", type: "integer", nullable: false },
      { name: "have", type: "integer", nullable: false, default: 5 },
      { name: "one", type: "string", unique: true },
    ]);
    const post = (row: object) => t.tables("POST", "/rules/rows", { row });
    expect((await post({})).body.issues).toEqual([{ path: "row.need", message: "is required" }]);
    expect((await post({ need: null })).body.issues).toEqual([{ path: "row.need", message: "must not be null" }]);
    expect((await post({ need: 1, have: null })).body.issues[0].path).toBe("row.have");
    expect((await post({ need: 1, one: "a" })).body.row).toMatchObject({ have: 5, one: "a" });
    const twin = await post({ need: 1, one: "a" });
    expect([twin.status, twin.body.code, twin.body.column]).toEqual([409, "data_conflict", "one"]);
    expect((await post({ need: 1, one: "A" })).status).toBe(201);
    expect((await post({ need: 1, one: null })).status).toBe(201);
    expect((await post({ need: 1, one: null })).status).toBe(201);
    expect((await t.tables("PUT", "/rules/rows/1", { row: { need: null } })).body.issues[0].path).toBe("row.need");
    const id = (await post({ need: 1, one: "b" })).body.row.id;
    expect((await t.tables("PUT", `/rules/rows/${id}`, { row: { one: "a" } })).status).toBe(409);
    expect((await t.tables("GET", `/rules/rows/${id}`)).body.row.one).toBe("b");
  });

  it("changes only in the columns that an update names, and in updated_at", async () => {
    const { row } = (await t.tables("POST", "/things/rows", { row: { s: "a", i: 1 } })).body;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const changed = await t.tables("PUT", `/things/rows/${row.id}`, { row: { i: null } });
    expect(changed.body.row).toEqual({ ...row, i: null, updated_at: instant });
    expect(changed.body.row.updated_at > row.updated_at).toBe(true);
    expect((await t.tables("PUT", `/things/rows/${row.id}`, { row: {} })).body).toEqual(changed.body);
  });

  it("is gone when deleted", async () => {
    const { row } = (await t.tables("POST", "/things/rows", { row: {} })).body;
    expect((await t.tables("DELETE", `/things/rows/${row.id}`)).body).toEqual({ row: row.id });
    expect((await t.tables("DELETE", `/things/rows/${row.id}`)).status).toBe(404);
    expect((await t.tables("GET", `/things/rows/${row.id}`)).status).toBe(404);
    for (const change of [{ row: { s: "a" } }, { row: {} }, { row: { nope: 1 } }, { row: 1 }]) {
      expect((await t.tables("PUT", `/things/rows/${row.id}`, change)).status).toBe(404);
    }
    expect((await t.tables("POST", "/things/rows", { row: {} })).body.row.id).toBeGreaterThan(row.id);
  });

  test.each(["0", "-1", "1.0", "x", "1e3", "99999999999999999999", "01", "%20", "1;--"])("has no id %s", async (id) => {
    for (const method of ["GET", "DELETE"]) {
      expect((await t.tables(method, `/things/rows/${encodeURIComponent(id)}`)).status).toBe(404);
    }
  });

  it("is stored once for one Idempotency-Key", async () => {
    await t.given("single", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const first = await t.tables("POST", "/single/rows", { row: { a: 1 } }, { headers });
    const again = await t.tables("POST", "/single/rows", { row: { a: 1 } }, { headers });
    expect(again.body).toEqual(first.body);
    expect((await t.tables("GET", "/single/rows")).body.rows).toHaveLength(1);
  });

  it("is stored once when requests of one Idempotency-Key come at once, and all get its answer", async () => {
    await t.given("raced", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = (a: number) => t.tables("POST", "/raced/rows", { row: { a } }, { headers });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(1)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect((await post(2)).status).toBe(422);
    expect((await t.tables("GET", "/raced/rows")).body.rows).toHaveLength(1);
  });

  it("is stored once when the first request of an Idempotency-Key has died after its work", async () => {
    await t.given("survivor", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = (a: number) => t.tables("POST", "/survivor/rows", { row: { a } }, { headers });
    t.rds.lose = (request) => request.body.includes("insert into");
    const lost = await post(1);
    t.rds.lose = undefined;
    expect(lost.status).toBe(503);
    expect((await post(2)).status).toBe(422);
    const again = await post(1);
    expect([again.status, again.body.row?.id]).toEqual([201, 1]);
    expect(await post(1)).toMatchObject({ status: 201, body: again.body });
    expect((await t.tables("GET", "/survivor/rows")).body.rows).toHaveLength(1);
  });

  it("is gone for a repeated request whose row was deleted in the meantime", async () => {
    await t.given("fleeting", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = () => t.tables("POST", "/fleeting/rows", { row: { a: 1 } }, { headers });
    t.rds.lose = (request) => request.body.includes("insert into");
    expect((await post()).status).toBe(503);
    t.rds.lose = undefined;
    expect((await t.tables("DELETE", "/fleeting/rows/1")).status).toBe(200);
    expect((await post()).status).toBe(404);
  });

  it("is stored again when the record of its Idempotency-Key has expired", async () => {
    await t.given("forgotten", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = () => t.tables("POST", "/forgotten/rows", { row: { a: 1 } }, { headers });
    t.rds.lose = (request) => request.body.includes("insert into");
    expect((await post()).status).toBe(503);
    t.rds.lose = undefined;
    await t.rds.sql(`update "${t.schema}"."$claims" set at = at - interval '24 hours'`);
    const again = await post();
    expect([again.status, again.body.row?.id]).toEqual([201, 2]);
  });

  it("has at most 400,000 bytes, however they come together", async () => {
    const columns = ["a", "b"].map((name) => ({ name, type: "text" }));
    await t.given("heavy", columns);
    const post = await t.tables("POST", "/heavy/rows", { row: { a: "x".repeat(400_001) } });
    expect([post.status, post.body.issues?.[0].path]).toEqual([400, "row"]);
    const { row } = (await t.tables("POST", "/heavy/rows", { row: { a: "☃".repeat(100_000) } })).body;
    expect((await t.tables("PUT", `/heavy/rows/${row.id}`, { row: { b: "x".repeat(100_000) } })).status).toBe(400);
    expect((await t.tables("GET", `/heavy/rows/${row.id}`)).body.row).toEqual(row);
  });

  it("is stored once when a duplicate of its request records the Idempotency-Key between its look and its insert", async () => {
    await t.given("outrun", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = () => t.tables("POST", "/outrun/rows", { row: { a: 1 } }, { headers });
    t.rds.lose = (request) => request.body.includes("insert into");
    expect((await post()).status).toBe(503);
    t.rds.lose = undefined;
    const looks = [{ status: 200, body: JSON.stringify({ columnMetadata: [], records: [] }) }];
    t.rds.intercept = ({ body }) => (body.includes("row_id from") ? looks.pop() : undefined);
    const again = await post();
    expect([looks, again.status, again.body.row?.id]).toEqual([[], 201, 1]);
    expect((await t.tables("GET", "/outrun/rows")).body.rows).toHaveLength(1);
  });

  it("is not stored while the records of the Idempotency-Keys cannot be read", async () => {
    await t.given("unread", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = () => t.tables("POST", "/unread/rows", { row: { a: 1 } }, { headers });
    const message = "ERROR: permission denied for table $claims; SQLState: 42501";
    const refusal = {
      status: 400,
      headers: { "x-amzn-errortype": "DatabaseErrorException" },
      body: JSON.stringify({ message }),
    };
    t.rds.intercept = ({ body }) => (body.includes("row_id from") ? refusal : undefined);
    expect((await post()).status).toBe(500);
    t.rds.intercept = undefined;
    expect((await t.tables("GET", "/unread/rows")).body.rows).toEqual([]);
    expect((await post()).status).toBe(201);
  });

  it("is answered as it was first, also by a request that a duplicate has overtaken", async () => {
    await t.given("overtaken", [{ name: "a", type: "integer" }]);
    const headers = { "idempotency-key": randomUUID() };
    const post = () => t.tables("POST", "/overtaken/rows", { row: { a: 1 } }, { headers });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    t.rds.calls.length = 0;
    t.rds.hold = promise;
    const slow = post();
    await expect.poll(() => t.rds.calls.length).toBe(1);
    t.rds.hold = undefined;
    const first = await post();
    expect((await t.tables("PUT", "/overtaken/rows/1", { row: { a: 2 } })).status).toBe(200);
    resolve(undefined);
    for (const again of [await slow, await post()]) {
      expect([again.status, again.body.row]).toEqual([201, first.body.row]);
    }
    expect(first.body.row).toMatchObject({ id: 1, a: 1 });
  });

  it("whose value a column has just become unique for is a 409 without the column's name", async () => {
    await t.given("rare", [{ name: "a", type: "integer" }], [{ a: 1 }]);
    await t.rds.sql(`alter table "${t.schema}"."rare" add constraint "$later" unique (a)`);
    const twin = await t.tables("POST", "/rare/rows", { row: { a: 1 } });
    expect([twin.status, twin.body.code, twin.body.column]).toEqual([409, "data_conflict", undefined]);
  });

  /** Answers the next inserts of rows with these SQLSTATEs, one after the other; returns those that are left. */
  function refuseInserts(...states: string[]): string[] {
    t.rds.intercept = (request) => {
      const state = request.body.includes("insert into") ? states.shift() : undefined;
      if (state === undefined) return undefined;
      const message = `ERROR: column "a" is not as it was; SQLState: ${state}`;
      const headers = { "x-amzn-errortype": "DatabaseErrorException" };
      return { status: 400, headers, body: JSON.stringify({ message }) };
    };
    return states;
  }

  it("is written by the table as it is now, when the table changes beside it", async () => {
    await t.given("moving", [{ name: "a", type: "integer" }]);
    for (const state of ["42703", "42804", "42846", "22P02", "22003", "23502", "40001", "55P03"]) {
      const left = refuseInserts(state);
      const answer = await t.tables("POST", "/moving/rows", { row: { a: 1 } });
      expect([state, left, answer.status, answer.body.row?.a]).toEqual([state, [], 201, 1]);
    }
    expect((await t.tables("GET", "/moving/rows")).body.rows).toHaveLength(8);
  });

  it("that does not fit the table as it is now is an error of the service", async () => {
    await t.given("stuck", [{ name: "a", type: "integer" }]);
    for (const states of [
      ["42703", "42703", "never"],
      ["XX000", "never"],
    ]) {
      const left = refuseInserts(...states);
      const answer = await t.tables("POST", "/stuck/rows", { row: { a: 1 } });
      expect([answer.status, answer.body.code, left]).toEqual([500, "internal", ["never"]]);
    }
  });
});

describe("the rows of a table that does not exist", () => {
  const calls: [string, string, unknown?][] = [
    ["GET", ""],
    ["GET", "?limit=0"],
    ["POST", "", { row: {} }],
    ["POST", "", { row: 1 }],
    ["GET", "/1"],
    ["PUT", "/1", { row: 1 }],
    ["DELETE", "/1"],
  ];

  it("are a 404, also for a request that breaks a rule, and in a database that never had a table", async () => {
    const { tables } = await t.newDatabase();
    for (const [method, path, body] of calls) {
      for (const call of [tables, t.tables]) {
        expect([method, path, (await call(method, `/nowhere/rows${path}`, body)).status]).toEqual([method, path, 404]);
      }
    }
  });
});

describe("the rows of a table", () => {
  it("come by id, a page at a time, each page in one statement", async () => {
    const rows = Array.from({ length: 7 }, (_, n) => ({ n }));
    await t.given("paged", [{ name: "n", type: "integer" }], rows);
    await t.tables("DELETE", "/paged/rows/3");
    const seen: number[] = [];
    let cursor = "";
    const sizes: number[] = [];
    do {
      t.rds.calls.length = 0;
      const { body } = await t.tables("GET", `/paged/rows?limit=4${cursor}`);
      expect(t.rds.calls).toEqual(["/Execute"]);
      sizes.push(body.rows.length);
      seen.push(...body.rows.map((row: { id: number }) => row.id));
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
    } while (cursor);
    expect(seen).toEqual([1, 2, 4, 5, 6, 7]);
    expect(sizes).toEqual([4, 2]);
    expect((await t.tables("GET", "/paged/rows?limit=6")).body.nextCursor).toBeNull();
    expect((await t.tables("GET", "/paged/rows")).body.rows).toHaveLength(6);
  });

  it("take a cursor of this list only, and a limit in its range", async () => {
    await t.given("first", [], [{}, {}]);
    await t.given("second", [], [{}, {}]);
    const { nextCursor } = (await t.tables("GET", "/first/rows?limit=1")).body;
    expect((await t.tables("GET", `/first/rows?cursor=${nextCursor}`)).body.rows).toHaveLength(1);
    const claiming = (position: string) => Buffer.from(`${"x".repeat(16)}${position}`).toString("base64url");
    for (const query of [
      `cursor=${nextCursor}x`,
      `cursor=${claiming("x1")}`,
      `cursor=${claiming("1x")}`,
      "cursor=",
      "cursor=MQ",
      "limit=0",
      "limit=201",
      "limit=1.5",
      "limit=x",
    ]) {
      expect((await t.tables("GET", `/first/rows?${query}`)).status).toBe(400);
    }
    const other = await t.tables("GET", `/second/rows?cursor=${nextCursor}`);
    const issues = [{ path: "cursor", message: "must be a cursor that this list returned" }];
    expect([other.status, other.body.issues]).toEqual([400, issues]);
  });

  it("take no cursor of an earlier table of the same name", async () => {
    await t.given("reborn", [], [{}, {}]);
    const { nextCursor } = (await t.tables("GET", "/reborn/rows?limit=1")).body;
    await t.tables("DELETE", "/reborn");
    expect((await t.tables("GET", `/reborn/rows?cursor=${nextCursor}`)).status).toBe(404);
    await t.given("reborn", [], [{}, {}]);
    const answer = await t.tables("GET", `/reborn/rows?cursor=${nextCursor}`);
    expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, "cursor"]);
  });

  it("take the cursor of before a change of the table", async () => {
    await t.given("changed", []);
    await t.rds.sql(`insert into "${t.schema}"."changed" (created_at) select now() from generate_series(1, 12)`);
    const { nextCursor } = (await t.tables("GET", "/changed/rows?limit=11")).body;
    await t.tables("PUT", "/changed", { add: [{ name: "a", type: "integer" }] });
    const { rows } = (await t.tables("GET", `/changed/rows?cursor=${nextCursor}`)).body;
    expect(rows).toMatchObject([{ id: 12, a: null }]);
  });

  it("come in smaller pages when they are large, and all of them come", async () => {
    await t.given("large", [{ name: "a", type: "text" }]);
    const texts = [100, 390, 1, 200, 300, 390, 20, 65].map((kilo, index) => `${index}"\\☃`.repeat(kilo * 120));
    for (const a of texts) expect((await t.tables("POST", "/large/rows", { row: { a } })).status).toBe(201);
    const seen: string[] = [];
    let cursor = "";
    let pages = 0;
    do {
      const { status, body } = await t.tables("GET", `/large/rows?limit=200${cursor}`);
      expect(status).toBe(200);
      expect(body.rows.length).toBeGreaterThan(0);
      seen.push(...body.rows.map((row: { a: string }) => row.a));
      cursor = body.nextCursor === null ? "" : `&cursor=${body.nextCursor}`;
      pages += 1;
    } while (cursor);
    expect(seen.map((text) => text.length)).toEqual(texts.map((text) => text.length));
    expect(seen).toEqual(texts);
    expect(pages).toBeGreaterThan(2);
  });
});

describe("a paused database", () => {
  const resuming = {
    status: 400,
    headers: { "x-amzn-errortype": "DatabaseResumingException" },
    body: JSON.stringify({ message: "The Aurora DB instance is resuming after being auto-paused" }),
  };

  it("is waited for", async () => {
    let sleeping = 1;
    t.rds.intercept = () => (sleeping-- > 0 ? resuming : undefined);
    const answer = await t.tables("GET");
    t.rds.intercept = undefined;
    expect(answer.status).toBe(200);
    expect(sleeping).toBeLessThan(0);
  });

  it("that cannot be reached is a 503, not an answer about tables", async () => {
    t.rds.intercept = () => ({
      status: 504,
      headers: { "x-amzn-errortype": "DatabaseUnavailableException" },
      body: JSON.stringify({ message: "no writer" }),
    });
    const answer = await t.tables("GET");
    t.rds.intercept = undefined;
    expect([answer.status, answer.body.code]).toEqual([503, "unavailable"]);
  });

  it("does not contain PostgreSQL's message when it fails", async () => {
    const message = 'ERROR: secret value "hunter2" in relation "x"; SQLState: XX000';
    t.rds.intercept = () => ({
      status: 400,
      headers: { "x-amzn-errortype": "DatabaseErrorException" },
      body: JSON.stringify({ message }),
    });
    const answer = await t.tables("GET");
    t.rds.intercept = undefined;
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|relation|XX000/);
  });
});

describe("the rows commands of the command line", () => {
  const run = (words: string[], stdin?: string) =>
    commandLine(["rows", ...words], {
      environment: { SLIPWAY_HOME: t.home },
      ...(stdin !== undefined && { stdin }),
    });
  const printed = ({ stdout }: { stdout: string }) =>
    stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  it("write one row or one for each line, change, read and delete them", async () => {
    await t.given("letters", [{ name: "text", type: "string", nullable: false }]);
    const lines = '{"text":"one"}\n\n{"text":"two","id":1}\n{"text":"three"}\n';
    const refused = await run(["create", "letters"], lines);
    expect([refused.code, printed(refused).map(({ text }) => text)]).toEqual([1, ["one"]]);
    expect(printed(await run(["create", "letters"], lines.replace(',"id":1', ""))).map(({ id }) => id)).toEqual([
      2, 3, 4,
    ]);
    const [made] = printed(await run(["create", "letters", '{"text":"five"}']));
    const changed = await run(["update", "letters", String(made.id), '{"text":"fünf"}']);
    expect(printed(changed)).toEqual([{ ...made, text: "fünf", updated_at: instant }]);
    expect(printed(await run(["get", "letters", String(made.id)]))).toEqual(printed(changed));
    expect(await run(["delete", "letters", String(made.id)])).toMatchObject({ code: 0, stdout: "" });
    expect(printed(await run(["letters"])).map(({ text }) => text)).toEqual(["one", "one", "two", "three"]);
  });

  it.each([
    [["create", "letters", "{text:1}"], "A row must be a JSON object"],
    [["create", "letters", "[1]"], "A row must be a JSON object"],
    [["create", "letters", '{"i":9007199254740993}'], "i is an integer that would be rounded"],
    [["create", "letters"], "No row was given"],
    [["update", "letters", "1"], "Usage: slipway rows update <table> <row id> <json>."],
  ])("%j is a sentence and code 2", async (words, sentence) => {
    expect(await run(words, "")).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });
});
