import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { ownStates } from "../../../lambdas/tables/model/inner-names.ts";
import { startTables, type Tables } from "./fixture.ts";

let t: Tables;
beforeAll(async () => {
  t = await startTables();
  await t.given("books", [{ name: "title", type: "string" }]);
}, 120_000);
afterAll(() => t.stop());
beforeEach(() => {
  t.rds.intercept = undefined;
  t.rds.lose = undefined;
});

/** A name that no other table has, also when the test runs again. */
const fresh = (name: string) => `${name}_${randomUUID().replaceAll("-", "")}`;

const managed = (name: string, type: string, standard: string | null) => ({
  name,
  type,
  nullable: false,
  unique: type === "integer",
  default: standard,
  comment: null,
});
const id = managed("id", "integer", null);
const createdAt = managed("created_at", "date", "CURRENT_TIMESTAMP");
const updatedAt = managed("updated_at", "date", "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP");
const column = (name: string, type: string, more: object = {}) => ({
  name,
  type,
  nullable: true,
  unique: false,
  default: null,
  comment: null,
  ...more,
});
const named = (answer: { body: { table: { columns: { name: string }[] } } }) =>
  answer.body.table.columns.map((one) => one.name);

/** What the Data API answers to a change with this result. */
const changed = (result: object) => {
  const record = [{ stringValue: JSON.stringify(result) }];
  return { status: 200, body: JSON.stringify({ columnMetadata: [{ label: "result" }], records: [record] }) };
};
const refused = (code: string) => changed({ state: "refused", code, statement: 0, row: null });

/** Everything that PostgreSQL stores for a table: file, columns, constraints, triggers, comments, catalog, rows with their versions. */
async function dump(table: string): Promise<string> {
  const relation = `'"${t.schema}"."${table}"'::regclass`;
  const parts = [
    `select relfilenode::text, obj_description(oid), reltuples::text from pg_class where oid = ${relation}`,
    `select a.attnum, a.attname::text, a.atttypid::regtype::text, a.atttypmod, a.attnotnull, a.attisdropped,
       pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = ${relation} order by 1`,
    `select conname::text, pg_get_constraintdef(oid) from pg_constraint where conrelid = ${relation} order by 1`,
    `select indexrelid::regclass::text from pg_index where indrelid = ${relation} order by 1`,
    `select pg_get_triggerdef(oid) from pg_trigger where tgrelid = ${relation} order by 1`,
    `select c.xmin::text, c.version, c.definition::text from "${t.schema}"."$tables" c where c.name = '${table}'`,
    `select r.xmin::text, r.ctid::text, md5(r::text) from "${t.schema}"."${table}" r order by r.id`,
  ].map((sql) => `(select json_agg(part) from (${sql}) part)::text`);
  const [row = []] = await t.rds.sql(`select ${parts.join(", ")}`);
  expect(row.filter((part) => typeof part === "string").length).toBeGreaterThan(3);
  return JSON.stringify(row);
}

describe("tables", () => {
  it("are none in a new database, which PostgreSQL does not know yet", async () => {
    const { schema, tables } = await t.newDatabase();
    expect((await tables("GET")).body).toEqual({ tables: [] });
    expect((await tables("PUT", "/none", {})).status).toBe(404);
    expect((await tables("DELETE", "/none")).status).toBe(404);
    expect((await tables("GET", "/none/rows")).status).toBe(404);
    expect((await tables("DELETE", "/none/rows/1")).status).toBe(404);
    expect((await tables("POST", "/none/rows", { row: {} })).status).toBe(404);
    expect(await t.rds.sql(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
    const headers = { "idempotency-key": randomUUID() };
    expect((await tables("POST", "", { name: "first", columns: [] }, { headers })).status).toBe(201);
    expect((await tables("GET", "/first/rows")).body).toEqual({ rows: [], nextCursor: null });
  });

  it("carry the managed columns and all six fields of each column", async () => {
    const { tables } = await t.newDatabase();
    const answer = await tables("POST", "", {
      name: "books",
      comment: 'It\'s a "table"\nof books \\ :p1 ☃',
      columns: [
        { name: "title", type: "string", nullable: false, unique: true, default: "O'Brien", comment: "a;--\n'" },
        { name: "body", type: "text" },
        { name: "pages", type: "integer", default: -9007199254740991 },
        { name: "price", type: "float", default: 1e21 },
        { name: "sold", type: "boolean", default: false },
        { name: "seen", type: "date", default: "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP" },
        { name: "extra", type: "json", default: null, comment: null },
      ],
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      table: {
        name: "books",
        comment: 'It\'s a "table"\nof books \\ :p1 ☃',
        columns: [
          id,
          column("title", "string", { nullable: false, unique: true, default: "O'Brien", comment: "a;--\n'" }),
          column("body", "text"),
          column("pages", "integer", { default: -9007199254740991 }),
          column("price", "float", { default: 1e21 }),
          column("sold", "boolean", { default: false }),
          column("seen", "date", { default: "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP" }),
          column("extra", "json"),
          createdAt,
          updatedAt,
        ],
      },
    });
    expect((await tables("GET")).body.tables).toEqual([answer.body.table]);
    const row = await tables("POST", "/books/rows", { row: {} });
    expect(row.body.row).toMatchObject({ title: "O'Brien", pages: -9007199254740991, price: 1e21, sold: false });
  });

  it("need no columns of their own", async () => {
    const { tables } = await t.newDatabase();
    expect(named(await tables("POST", "", { name: "bare", comment: null, columns: [] }))).toEqual([
      "id",
      "created_at",
      "updated_at",
    ]);
    expect((await tables("POST", "/bare/rows", { row: {} })).body.row.id).toBe(1);
  });

  it("are gone for good when deleted, and their name is free", async () => {
    await t.given("gone", [{ name: "a", type: "integer" }], [{ a: 1 }]);
    expect((await t.tables("DELETE", "/gone")).body).toEqual({ table: "gone" });
    expect((await t.tables("DELETE", "/gone")).status).toBe(404);
    expect((await t.tables("GET", "/gone/rows")).status).toBe(404);
    await t.given("gone", []);
    expect((await t.tables("GET", "/gone/rows")).body.rows).toEqual([]);
  });

  it("are listed in one statement, however many there are", async () => {
    t.rds.calls.length = 0;
    await t.tables("GET");
    expect(t.rds.calls).toEqual(["/Execute"]);
    for (let index = 0; index < 5; index += 1) await t.given(`more_${index}`, [{ name: "a", type: "integer" }]);
    t.rds.calls.length = 0;
    const { body } = await t.tables("GET");
    expect(t.rds.calls).toEqual(["/Execute"]);
    expect(body.tables.map((one: { name: string }) => one.name).slice(-5)).toEqual(
      [0, 1, 2, 3, 4].map((index) => `more_${index}`),
    );
  });

  it("are listed whole when they are larger than an answer of the Data API", async () => {
    const comment = "☃".repeat(1024);
    const columns = Array.from({ length: 200 }, (_, index) => column(`c${index}`, "text", { comment }));
    const made = await t.tables("POST", "", { name: "wide", columns });
    expect(made.status).toBe(201);
    const { body } = await t.tables("GET");
    expect(body.tables.find((one: { name: string }) => one.name === "wide")).toEqual(made.body.table);
    expect((await t.tables("PUT", "/wide", { add: [{ name: "more", type: "text" }] })).body.issues).toEqual([
      { path: "add", message: "must leave the table with at most 200 columns" },
    ]);
    await t.tables("DELETE", "/wide");
  });

  it("answer a repeated POST of one Idempotency-Key with the first answer", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = { name: fresh("once"), columns: [] };
    const first = await t.tables("POST", "", body, { headers });
    const again = await t.tables("POST", "", body, { headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect((await t.tables("POST", "", { ...body, name: "other" }, { headers })).status).toBe(422);
  });

  it("are made once for one Idempotency-Key, whether its requests come at once or the first has died after its work", async () => {
    const post = (key: string, name: string) =>
      t.tables("POST", "", { name, columns: [] }, { headers: { "idempotency-key": key } });
    const [raced, survivor] = [fresh("raced"), fresh("survivor")];
    const [racedKey, lostKey] = [randomUUID(), randomUUID()];
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(racedKey, raced)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect((await post(randomUUID(), raced)).status).toBe(409);
    t.rds.lose = (request) => request.body.includes("$change_");
    const lost = await post(lostKey, survivor);
    t.rds.lose = undefined;
    expect(lost.status).toBe(503);
    expect((await post(lostKey, "different")).status).toBe(422);
    const again = await post(lostKey, survivor);
    expect([again.status, again.body.table?.name]).toEqual([201, survivor]);
  });

  it("are created again for an Idempotency-Key whose record has expired", async () => {
    const headers = { "idempotency-key": randomUUID() };
    const body = { name: fresh("expired"), columns: [] };
    t.rds.lose = (request) => request.body.includes("$change_");
    expect((await t.tables("POST", "", body, { headers })).status).toBe(503);
    t.rds.lose = undefined;
    await t.rds.sql(`update "${t.schema}"."$claims" set at = at - interval '24 hours'`);
    const again = await t.tables("POST", "", body, { headers });
    expect([again.status, again.body.code]).toEqual([409, "table_exists"]);
    expect(await t.rds.sql(`select 1 from "${t.schema}"."$claims"`)).toEqual([]);
  });

  it("of a database without records of Idempotency-Keys accept an Idempotency-Key too", async () => {
    await t.given("older", [{ name: "a", type: "integer" }]);
    const drop = () => t.rds.sql(`drop table "${t.schema}"."$claims"`);
    await drop();
    const row = { row: { a: 1 } };
    const headers = { "idempotency-key": randomUUID() };
    expect((await t.tables("POST", "/older/rows", row, { headers })).status).toBe(201);
    await drop();
    expect((await t.tables("POST", "", { name: fresh("newer"), columns: [] }, { headers })).status).toBe(201);
  });
});

describe("names", () => {
  const words =
    "select user table order group where from null default xmin ctid tableoid constructor toString p1 r text";

  it.each(words.split(" "))("may be %s, for a table as for a column", async (word) => {
    const columns = [{ name: word, type: "string", unique: true, comment: word }];
    await t.given(word, columns);
    const row = await t.tables("POST", `/${word}/rows`, { row: { [word]: "kept" } });
    expect(row.body.row).toMatchObject({ id: 1, [word]: "kept" });
    expect((await t.tables("POST", `/${word}/rows`, { row: { [word]: "kept" } })).status).toBe(409);
    const changed = await t.tables("PUT", `/${word}`, {
      rename: [{ from: word, to: "plain" }],
      add: [{ name: word, type: "integer", default: 7 }],
    });
    expect(named(changed)).toEqual(["id", "plain", word, "created_at", "updated_at"]);
    expect((await t.tables("GET", `/${word}/rows/1`)).body.row).toMatchObject({ plain: "kept", [word]: 7 });
    expect((await t.tables("DELETE", `/${word}`)).status).toBe(200);
  });

  it("may have 63 characters, and never conflict with the service's own names", async () => {
    const long = "a".repeat(63);
    await t.given(long, [{ name: long, type: "integer", unique: true }]);
    for (const name of [`${"a".repeat(58)}_pkey`, "dup_pkey", "dup", "dup_id_seq", "dup_a_key", "tables"]) {
      await t.given(name, [{ name: "a", type: "integer", unique: true }], [{ a: 1 }]);
    }
  });

  const hostile = [
    "",
    " a",
    'a"b',
    "a'b",
    "a\\b",
    "a;--",
    "a\u0000b",
    "a".repeat(64),
    "1a",
    "_a",
    "a-b",
    "a.b",
    "ä",
    "__proto__",
    "$tables",
    "a b",
    "a\nb",
    '"; drop table books; --',
    5,
    null,
    {},
  ];
  test.each(hostile)("cannot be %j", async (name) => {
    const table = await t.tables("POST", "", { name, columns: [] });
    expect([table.status, table.body.issues?.[0].path]).toEqual([400, "name"]);
    const made = await t.tables("POST", "", { name: "hostile", columns: [{ name, type: "text" }] });
    expect([made.status, made.body.issues?.[0].path]).toEqual([400, "columns.0.name"]);
    const changed = await t.tables("PUT", "/books", { rename: [{ from: "title", to: name }] });
    expect([changed.status, changed.body.issues?.[0].path]).toEqual([400, "rename.0.to"]);
    if (typeof name !== "string" || name === "") return;
    for (const method of ["PUT", "DELETE"]) {
      const path = await t.tables(method, `/${encodeURIComponent(name)}`, method === "PUT" ? {} : undefined);
      expect(path.status).toBe(404);
    }
  });

  it("differ in more than case", async () => {
    await t.given("Cased", [{ name: "Aa", type: "text" }]);
    expect((await t.tables("POST", "", { name: "cASED", columns: [] })).body.code).toBe("table_exists");
    const twins = [
      { name: "x", type: "text" },
      { name: "X", type: "text" },
    ];
    expect((await t.tables("POST", "", { name: "twins", columns: twins })).body.issues[0].path).toBe("columns.1.name");
    const add = await t.tables("PUT", "/Cased", { add: [{ name: "aA", type: "text" }] });
    expect([add.status, add.body.code]).toEqual([409, "column_exists"]);
    expect(named(await t.tables("PUT", "/Cased", { rename: [{ from: "Aa", to: "aA" }] }))).toContain("aA");
    expect((await t.tables("PUT", "/cased", {})).status).toBe(404);
  });

  test.each(["id", "created_at", "updated_at", "ID", "Created_At"])("cannot be the managed %s", async (name) => {
    const one = { name, type: "integer" };
    expect((await t.tables("POST", "", { name: "m", columns: [one] })).body.issues[0].path).toBe("columns.0.name");
    for (const [change, path] of [
      [{ add: [one] }, "add.0.name"],
      [{ drop: [name] }, "drop.0"],
      [{ modify: [{ name, comment: "x" }] }, "modify.0.name"],
      [{ rename: [{ from: name, to: "x" }] }, "rename.0.from"],
      [{ rename: [{ from: "title", to: name }] }, "rename.0.to"],
      [{ order: [name] }, "order.0"],
    ] as const) {
      const answer = await t.tables("PUT", "/books", change);
      expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, path]);
    }
  });
});

describe("bad definitions are refused with the field at fault", () => {
  const cases: [path: string, column: unknown][] = [
    ["columns.0", { name: "a", type: "integer", nulable: false }],
    ["columns.0", JSON.parse('{"name":"a","type":"integer","__proto__":{"nullable":false}}')],
    ["columns.0", 5],
    ["columns.0.name", { type: "integer" }],
    ["columns.0.type", { name: "a" }],
    ["columns.0.type", { name: "a", type: "varchar" }],
    ["columns.0.type", { name: "a", type: "toString" }],
    ["columns.0.nullable", { name: "a", type: "integer", nullable: "no" }],
    ["columns.0.nullable", { name: "a", type: "integer", nullable: null }],
    ["columns.0.unique", { name: "a", type: "integer", unique: 1 }],
    ["columns.0.comment", { name: "a", type: "integer", comment: 5 }],
    ["columns.0.comment", { name: "a", type: "integer", comment: "x".repeat(1025) }],
    ["columns.0.comment", { name: "a", type: "integer", comment: "a\u0000" }],
    ["columns.0.unique", { name: "a", type: "text", unique: true }],
    ["columns.0.unique", { name: "a", type: "json", unique: true }],
    ["columns.0.default", { name: "a", type: "text", default: "x" }],
    ["columns.0.default", { name: "a", type: "json", default: {} }],
    ["columns.0.default", { name: "a", type: "json", default: 1 }],
    ["columns.0.default", { name: "a", type: "string", default: 1 }],
    ["columns.0.default", { name: "a", type: "string", default: "x".repeat(256) }],
    ["columns.0.default", { name: "a", type: "string", default: "\ud800" }],
    ["columns.0.default", { name: "a", type: "integer", default: "1" }],
    ["columns.0.default", { name: "a", type: "integer", default: 1.5 }],
    ["columns.0.default", { name: "a", type: "integer", default: 9007199254740992 }],
    ["columns.0.default", { name: "a", type: "float", default: "NaN" }],
    ["columns.0.default", { name: "a", type: "boolean", default: 0 }],
    ["columns.0.default", { name: "a", type: "date", default: "now()" }],
    ["columns.0.default", { name: "a", type: "date", default: "2026-11-20T00:00:00.000Z" }],
    ["columns.0.default", { name: "a", type: "date", default: "current_timestamp" }],
    ["columns.0.default", { name: "a", type: "date", default: 0 }],
  ];
  test.each(cases)("%s of %j", async (path, one) => {
    const text = JSON.stringify({ name: "refused", columns: [one] });
    const answer = await t.tables("POST", "", undefined, { text });
    expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, path]);
    expect(answer.body.issues[0].message).toMatch(/^(must|has no field|is not possible)/);
    const change = await t.tables("PUT", "/books", undefined, { text: JSON.stringify({ add: [one] }) });
    expect([change.status, change.body.issues?.[0].path]).toEqual([400, path.replace("columns", "add")]);
  });

  test.each([
    ["{ not json", ""],
    ["[]", ""],
    ['{"name":"a","columns":[{"name":"a","type":"float","default":NaN}]}', ""],
    ['{"name":"a","columns":[{"name":"a","type":"float","default":1e400}]}', "columns.0.default"],
    ['{"name":"a","columns":{}}', "columns"],
    ['{"name":"a","colums":[]}', ""],
    ['{"name":"a","comment":1}', "comment"],
    ["{}", "name"],
  ])("%s", async (text, path) => {
    const answer = await t.tables("POST", "", undefined, { text });
    expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, path]);
  });

  it("201 columns", async () => {
    const columns = Array.from({ length: 201 }, (_, index) => ({ name: `c${index}`, type: "integer" }));
    const answer = await t.tables("POST", "", { name: "too_wide", columns });
    expect(answer.body.issues).toEqual([{ path: "columns", message: "must have at most 200 columns" }]);
    const just = await t.tables("POST", "", { name: "just_wide", columns: columns.slice(1) });
    expect(just.body.table.columns).toHaveLength(203);
  });

  it("names every broken rule at once, and speaks no SQL", async () => {
    const answer = await t.tables("POST", "", { name: "1", columns: [{ name: "a", type: "b" }], x: 1 });
    expect(answer.body.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "",
      "columns.0.type",
      "name",
    ]);
    expect(JSON.stringify(answer.body)).not.toMatch(/alter|insert|varchar|pg_|sqlstate/i);
  });
});

describe("a change", () => {
  it("drops, renames, modifies, adds, orders and comments, each step seeing what the one before left", async () => {
    await t.given(
      "steps",
      [
        { name: "a", type: "integer" },
        { name: "b", type: "string" },
        { name: "c", type: "boolean" },
      ],
      [{ a: 1, b: "x", c: true }],
    );
    const answer = await t.tables("PUT", "/steps", {
      drop: ["c"],
      rename: [
        { from: "a", to: "c" },
        { from: "b", to: "a" },
      ],
      modify: [{ name: "c", type: "string", nullable: false, unique: true, default: "d", comment: "was a" }],
      add: [{ name: "b", type: "date", default: "CURRENT_TIMESTAMP" }],
      order: ["b", "c", "a"],
      comment: "changed",
    });
    expect(answer.status).toBe(200);
    expect(answer.body.table).toEqual({
      name: "steps",
      comment: "changed",
      columns: [
        id,
        column("b", "date", { default: "CURRENT_TIMESTAMP" }),
        column("c", "string", { nullable: false, unique: true, default: "d", comment: "was a" }),
        column("a", "string"),
        createdAt,
        updatedAt,
      ],
    });
    expect((await t.tables("GET", "/steps/rows/1")).body.row).toMatchObject({ c: "1", a: "x" });
    expect((await t.tables("PUT", "/steps", { comment: null })).body.table.comment).toBeNull();
    const before = await dump("steps");
    expect((await t.tables("PUT", "/steps", {})).body.table.columns).toHaveLength(6);
    expect(await dump("steps")).toBe(before);
  });

  it("adds columns after the existing ones and before created_at", async () => {
    await t.given("adding", [{ name: "a", type: "integer" }], [{ a: 1 }, { a: 2 }]);
    const add = [
      { name: "z", type: "integer", nullable: false, default: 5 },
      { name: "b", type: "text" },
    ];
    expect(named(await t.tables("PUT", "/adding", { add }))).toEqual(["id", "a", "z", "b", "created_at", "updated_at"]);
    const { body } = await t.tables("GET", "/adding/rows");
    expect(body.rows.map((row: { z: number }) => row.z)).toEqual([5, 5]);
  });

  it("swaps and rotates names, keeping every value", async () => {
    const columns = ["a", "b", "c", "xmin"].map((name) => ({ name, type: "string", unique: true }));
    await t.given("swap", columns, [{ a: "1", b: "2", c: "3", xmin: "4" }]);
    const rename = [
      { from: "a", to: "b" },
      { from: "b", to: "a" },
      { from: "c", to: "xmin" },
      { from: "xmin", to: "C" },
    ];
    expect(named(await t.tables("PUT", "/swap", { rename })).slice(1, 5)).toEqual(["b", "a", "xmin", "C"]);
    expect((await t.tables("GET", "/swap/rows/1")).body.row).toMatchObject({ b: "1", a: "2", xmin: "3", C: "4" });
    const chain = [
      { from: "C", to: "d" },
      { from: "a", to: "C" },
    ];
    expect(named(await t.tables("PUT", "/swap", { rename: chain })).slice(1, 5)).toEqual(["b", "C", "xmin", "d"]);
  });

  it("moves the ON UPDATE of a renamed column with it", async () => {
    const on = "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";
    await t.given(
      "touch",
      [
        { name: "seen", type: "date", default: on },
        { name: "n", type: "integer" },
      ],
      [{ n: 1 }],
    );
    await t.tables("PUT", "/touch", { rename: [{ from: "seen", to: "read" }], add: [{ name: "seen", type: "date" }] });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { row } = (await t.tables("PUT", "/touch/rows/1", { row: { n: 2 } })).body;
    expect(row.read).toBe(row.updated_at);
    expect(row.read > row.created_at).toBe(true);
    expect(row.seen).toBeNull();
    await t.tables("PUT", "/touch", { modify: [{ name: "read", default: null }] });
    const later = (await t.tables("PUT", "/touch/rows/1", { row: { n: 3 } })).body.row;
    expect(later.read).toBe(row.read);
  });

  /** The table that the following tests share, as it was when it was created. */
  let firm: string | undefined;
  test.each([
    [404, { drop: ["nope"] }],
    [404, { drop: ["a"], rename: [{ from: "a", to: "x" }] }],
    [404, { drop: ["a"], modify: [{ name: "a", comment: "x" }] }],
    [404, { rename: [{ from: "a", to: "x" }], modify: [{ name: "a", comment: "x" }] }],
    [404, { rename: [{ from: "nope", to: "x" }] }],
    [404, { modify: [{ name: "A", comment: "x" }] }],
    [404, { order: ["a", "b", "s", "j", "nope"] }],
    [404, { rename: [{ from: "a", to: "b" }], modify: [{ name: "nope", comment: "x" }] }],
    [404, { rename: [{ from: "a", to: "b" }], order: ["nope"] }],
    [404, { add: [{ name: "B", type: "text" }], order: ["a", "nope"] }],
    [404, { modify: [{ name: "s", type: "integer" }], order: ["a", "b", "s", "nope"] }],
    [404, { modify: [{ name: "s", type: "integer" }, { name: "nope" }] }],
    [404, { drop: ["nope"], remove: ["a"] }],
    [404, { drop: ["nope"], modify: [{ name: "a", nulable: false }] }],
    [404, { drop: ["a", 5, "nope"], comment: 5 }],
    [404, { drop: ["id", "nope"] }],
    [404, { drop: ["a"], order: ["a"], add: [{ name: "x" }] }],
    [400, { rename: [{ from: "a", to: "b" }], modify: [{ name: "s", type: "integer" }] }],
    [400, { rename: [{ from: "a", to: "b" }], order: ["b"] }],
    [400, { add: [{ name: "B", type: "text" }], modify: [{ name: "j", unique: true }] }],
    [400, { drop: ["id"] }],
    [400, { drop: "nope" }],
    [400, { drop: ["no such name"] }],
    [409, { add: [{ name: "B", type: "text" }] }],
    [409, { rename: [{ from: "a", to: "b" }] }],
    [409, { rename: [{ from: "a", to: "b" }], order: ["b", "s", "j"] }],
    [409, { rename: [{ from: "a", to: "x" }], add: [{ name: "X", type: "text" }] }],
    [400, { drop: ["a", "a"] }],
    [
      400,
      {
        rename: [
          { from: "a", to: "x" },
          { from: "b", to: "X" },
        ],
      },
    ],
    [
      400,
      {
        rename: [
          { from: "a", to: "x" },
          { from: "a", to: "y" },
        ],
      },
    ],
    [400, { modify: [{ name: "a" }, { name: "a" }] }],
    [400, { modify: [{ name: "a", nulable: false }] }],
    [400, { modify: [{ name: "s", type: "text", unique: true }] }],
    [400, { modify: [{ name: "s", type: "integer" }] }],
    [400, { modify: [{ name: "j", default: "x" }] }],
    [400, { order: ["a"] }],
    [400, { order: ["a", "b", "s", "j", "a"] }],
    [400, { remove: ["a"] }],
    [400, { drop: "a" }],
    [409, { modify: [{ name: "a", nullable: false }] }],
    [409, { modify: [{ name: "b", unique: true }] }],
    [409, { modify: [{ name: "s", type: "integer", default: null }] }],
    [409, { add: [{ name: "x", type: "integer", nullable: false }] }],
    [409, { add: [{ name: "x", type: "integer", unique: true, default: 1 }] }],
    [
      409,
      {
        drop: ["j"],
        rename: [
          { from: "a", to: "b" },
          { from: "b", to: "a" },
        ],
        add: [{ name: "x", type: "integer", default: 3 }],
        comment: "never",
        modify: [
          { name: "b", comment: "never" },
          { name: "a", unique: true },
        ],
      },
    ],
  ])("that fails with %i leaves the table byte for byte as it was: %j", async (status, change) => {
    if (firm === undefined) {
      await t.given(
        "firm",
        [
          { name: "a", type: "integer" },
          { name: "b", type: "integer", default: 4 },
          { name: "s", type: "string", default: "x" },
          { name: "j", type: "json" },
        ],
        [{ a: 1 }, { a: null, j: [1, null] }, { s: "007" }],
      );
      firm = await dump("firm");
    }
    const answer = await t.tables("PUT", "/firm", change);
    expect([answer.status, answer.body.code]).toEqual([status, expect.any(String)]);
    if (status === 404)
      expect(answer.body.message).toMatch(/^(drop|rename|modify|order)\.\d(\.\w+)? names a column that the table/);
    expect(JSON.stringify(answer.body)).not.toMatch(/alter table|sqlstate|constraint|relation|firm"/i);
    const dry = await t.tables("PUT", "/firm?dryRun=true", change);
    expect(dry.status).toBe(status);
    expect(await dump("firm")).toBe(firm);
  });

  it("names the row and the field that stand in its way", async () => {
    await t.given("blocked", [{ name: "s", type: "string" }], [{ s: "1" }, { s: "1.5" }]);
    const answer = await t.tables("PUT", "/blocked", { modify: [{ name: "s", type: "integer" }] });
    expect(answer.body).toMatchObject({ status: "Conflict", code: "data_conflict", path: "modify.0.type", row: 2 });
    expect(answer.body.message).not.toContain("1.5");
  });

  /** Conversion to text escapes the quotes of the json, and so needs 42 bytes more. */
  const large = (bytes: number) => ({ a: "x".repeat(bytes), i: 1, j: Array.from({ length: 20 }, () => "") });
  test.each<[string, object, string]>([
    ["a new column", { add: [{ name: "b", type: "string", default: "x".repeat(200) }] }, "add.0"],
    ["a new column without a value", { add: [{ name: "b".repeat(63), type: "integer" }] }, "add.0"],
    ["a longer name", { rename: [{ from: "i", to: "i".repeat(63) }] }, "rename"],
    ["a conversion", { modify: [{ name: "j", type: "text" }] }, "modify.0.type"],
    ["several steps", { rename: [{ from: "i", to: "j".repeat(40) }], add: [{ name: "k", type: "integer" }] }, ""],
  ])("cannot make a row larger than a row may be: %s", async (_, change, path) => {
    const columns = [
      { name: "a", type: "text" },
      { name: "i", type: "integer" },
      { name: "j", type: "json" },
    ];
    await t.given("swollen", columns, [large(1), large(399_800)]);
    const before = await dump("swollen");
    const answer = await t.tables("PUT", "/swollen", change);
    expect([answer.status, answer.body.code, answer.body.row, answer.body.path]).toEqual([
      409,
      "data_conflict",
      2,
      path,
    ]);
    expect(await dump("swollen")).toBe(before);
    expect((await t.tables("PUT", "/swollen?dryRun=true", change)).status).toBe(409);
    await t.tables("DELETE", "/swollen/rows/2");
    expect((await t.tables("PUT", "/swollen", change)).status).toBe(200);
    await t.tables("DELETE", "/swollen");
  });

  it("as a dry run says what it would do, and does nothing", async () => {
    await t.given(
      "dry",
      [
        { name: "a", type: "integer", default: 1 },
        { name: "b", type: "string" },
      ],
      [{}],
    );
    const before = await dump("dry");
    const change = {
      drop: ["b"],
      modify: [{ name: "a", type: "string", default: "1", nullable: false }],
      add: [{ name: "c", type: "boolean", nullable: false, unique: true, default: true }],
      order: ["c", "a"],
      comment: "later",
    };
    const answer = await t.tables("PUT", "/dry?dryRun=true", change);
    expect(answer.body.plan).toEqual([
      "Drop column b and every value in it",
      "Convert column a from integer to string",
      'Set the default of column a to "1"',
      "Require a value in column a",
      "Add column c (boolean, required, unique, default true)",
      "Order the columns: c, a",
      "Set the comment of the table",
    ]);
    expect(answer.body.destructive).toBe(true);
    expect(await dump("dry")).toBe(before);
    expect((await t.tables("PUT", "/dry?dryRun=maybe", {})).body.issues[0].path).toBe("dryRun");
    const real = await t.tables("PUT", "/dry?dryRun=false", change);
    expect(real.body).toEqual({ table: answer.body.table });
    expect((await t.tables("PUT", "/dry?dryRun=true", {})).body).toEqual({
      ...real.body,
      plan: [],
      destructive: false,
    });
  });

  it("works on from where a parallel one has left the table", async () => {
    await t.given("parallel", []);
    const names = ["a", "b", "c", "d"];
    const answers = await Promise.all(
      names.map((name) => t.tables("PUT", "/parallel", { add: [{ name, type: "integer" }] })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    const columns = named(await t.tables("PUT", "/parallel", {}));
    expect(columns.slice(1, 5).sort()).toEqual(names);
    const same = await Promise.all(
      [1, 2, 3].map(() => t.tables("PUT", "/parallel", { rename: [{ from: "a", to: "z" }] })),
    );
    expect(same.map((answer) => answer.status).sort()).toEqual([200, 404, 404]);
  });

  it("and nine others at once on one table all succeed", async () => {
    await t.given("crowd", [{ name: "a", type: "text" }], [{ a: "1" }]);
    const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
    const answers = await Promise.all(
      names.map((name) => t.tables("PUT", "/crowd", { add: [{ name, type: "integer", default: 1 }] })),
    );
    expect(answers.map((answer) => answer.status)).toEqual(names.map(() => 200));
    const columns = named(await t.tables("PUT", "/crowd", {}));
    expect(columns.slice(2, -2).sort()).toEqual(names);
  });

  it("is tried again and again when others are in its way", async () => {
    await t.given("locked", []);
    let refusals = 8;
    t.rds.intercept = (request) => {
      if (!request.body.includes("$change_") || refusals === 0) return undefined;
      refusals -= 1;
      const code = refusals % 2 === 0 ? "55P03" : "40P01";
      return refusals > 4 ? changed({ state: "changed" }) : refused(code);
    };
    const added = await t.tables("PUT", "/locked", { add: [{ name: "a", type: "integer" }] });
    const asked = refusals;
    refusals = 2;
    const gone = await t.tables("DELETE", "/locked");
    const left = refusals;
    refusals = 2;
    const made = await t.tables("POST", "", { name: "locked", columns: [] });
    t.rds.intercept = undefined;
    expect([added.status, gone.status, made.status]).toEqual([200, 200, 201]);
    expect([asked, left, refusals]).toEqual([0, 0, 0]);
  });

  it("is not tried again when it was ended because its time was over", async () => {
    await t.given("ended", []);
    const unmade = fresh("unmade");
    const statusOf = async (method: string, path: string, body?: object) => {
      let answers = 0;
      t.rds.intercept = (request) => {
        if (!request.body.includes("$change_")) return undefined;
        answers += 1;
        return answers === 1 ? refused(ownStates.tooLate) : undefined;
      };
      return (await t.tables(method, path, body)).status;
    };
    expect(await statusOf("POST", "", { name: unmade, columns: [] })).toBe(503);
    expect(await statusOf("PUT", "/ended", { add: [{ name: "a", type: "text" }] })).toBe(503);
    expect(await statusOf("DELETE", "/ended")).toBe(503);
    t.rds.intercept = undefined;
    const { tables } = (await t.tables("GET")).body;
    expect(tables.find(({ name }: { name: string }) => name === "ended")?.columns).toHaveLength(3);
    expect(tables.map(({ name }: { name: string }) => name)).not.toContain(unmade);
  });

  it("of the same name happens once: of two tables created at once, one is", async () => {
    const answers = await Promise.all([
      t.tables("POST", "", { name: "racing", columns: [{ name: "a", type: "text" }] }),
      t.tables("POST", "", { name: "RACING", columns: [{ name: "b", type: "text" }] }),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
    const gone = await Promise.all(["racing", "RACING"].map((name) => t.tables("DELETE", `/${name}`)));
    expect(gone.map((answer) => answer.status).sort()).toEqual([200, 404]);
  });
});

describe("conversions keep the data or refuse", () => {
  const at = "2026-11-20T01:02:03.456Z";
  const refused = Symbol("refused");
  const cases: [from: string, to: string, value: unknown, after: unknown][] = [
    ["integer", "string", -12, "-12"],
    ["integer", "float", 9007199254740991, 9007199254740991],
    ["integer", "boolean", 1, true],
    ["integer", "boolean", 2, refused],
    ["integer", "json", 7, 7],
    ["integer", "date", 7, refused],
    ["float", "integer", 3, 3],
    ["float", "integer", 1.5, refused],
    ["float", "integer", 1e18, refused],
    ["float", "text", 0.1, "0.1"],
    ["string", "integer", "42", 42],
    ["string", "integer", "007", refused],
    ["string", "integer", " 1", refused],
    ["string", "integer", "1e3", refused],
    ["string", "integer", "9007199254740992", refused],
    ["string", "integer", "", refused],
    ["string", "float", "1.50", 1.5],
    ["string", "float", "1e999", refused],
    ["string", "float", "NaN", refused],
    ["string", "float", "0.12345678901234567890", refused],
    ["string", "boolean", "true", true],
    ["string", "boolean", "yes", refused],
    ["string", "date", at, at],
    ["string", "date", "2026-11-20T03:02:03.456+02:00", at],
    ["string", "date", "2026-11-20", "2026-11-20T00:00:00.000Z"],
    ["string", "date", "2026-02-30", refused],
    ["string", "date", "tomorrow", refused],
    ["string", "date", "2026-11-20T01:02:03.456789Z", refused],
    ["string", "json", '{"a":[1,null]}', { a: [1, null] }],
    ["string", "json", "plain", refused],
    ["string", "json", "null", refused],
    ["text", "string", "x".repeat(255), "x".repeat(255)],
    ["text", "string", "x".repeat(256), refused],
    ["text", "string", "☃".repeat(255), "☃".repeat(255)],
    ["boolean", "integer", true, 1],
    ["boolean", "string", false, "false"],
    ["boolean", "date", false, refused],
    ["date", "string", at, at],
    ["date", "json", at, at],
    ["date", "integer", at, refused],
    ["json", "text", { a: "é" }, '{"a":"é"}'],
    ["json", "integer", 5, 5],
    ["json", "integer", "5", refused],
    ["json", "float", 0.25, 0.25],
    ["json", "date", at, at],
    ["json", "boolean", false, false],
  ];
  const typesFrom = [...new Set(cases.map(([from]) => from))];

  // One table for each type, with a column for each case, one row of the values and one of nulls.
  test.each(typesFrom)("from %s", async (from) => {
    const own = cases.filter((one) => one[0] === from).map((one, index) => [...one, `v${index}`] as const);
    const table = `from_${from}`;
    const columns = own.map(([, , , , name]) => ({ name, type: from }));
    await t.given(table, columns, [Object.fromEntries(own.map(([, , value, , name]) => [name, value])), {}]);
    const before = await dump(table);
    const kept = own.filter(([, , , after]) => after !== refused);
    for (const [, to, value, after, name] of own) {
      if (after !== refused) continue;
      const answer = await t.tables("PUT", `/${table}`, { modify: [{ name, type: to }] });
      expect([answer.status, answer.body.code], `${JSON.stringify(value)} to ${to}`).toEqual([409, "data_conflict"]);
      expect(await dump(table), `after ${JSON.stringify(value)} to ${to}`).toBe(before);
    }
    const modify = kept.map(([, to, , , name]) => ({ name, type: to }));
    expect((await t.tables("PUT", `/${table}`, { modify })).body.table?.columns).toMatchObject([
      id,
      ...own.map(([, to, , after, name]) => ({ name, type: after === refused ? from : to })),
      createdAt,
      updatedAt,
    ]);
    const { rows } = (await t.tables("GET", `/${table}/rows`)).body;
    const values = (row: Record<string, unknown>) => own.map(([, , , , name]) => row[name]);
    expect(rows.map(values)).toEqual([
      own.map(([, , value, after]) => (after === refused ? value : after)),
      own.map(() => null),
    ]);
    await t.tables("DELETE", `/${table}`);
  });
});

describe("who may", () => {
  it("is every key and user of the organization, and no other caller", async () => {
    const { organization: other } = await t.operator("create-organization", { name: "Other" });
    const { project: stranger } = await t.operator("create-project", { organizationId: other?.id, name: "P" });
    const { credential: foreign } = await t.operator("create-credential", { projectId: stranger?.id });
    const { project: sister } = await t.operator("create-project", {
      organizationId: t.seed.organizationId,
      name: "S",
    });
    const { credential: own } = await t.operator("create-credential", { projectId: sister?.id });
    const bearer = `${own?.access}:${own?.secret}`;
    expect((await t.tables("GET", "", undefined, { bearer })).status).toBe(200);
    expect((await t.tables("GET", "", undefined, { bearer: t.seed.token })).status).toBe(200);
    expect((await t.tables("GET", "", undefined, { bearer: null })).status).toBe(401);

    const stranded = { bearer: `${foreign?.access}:${foreign?.secret}` };
    const routes: [string, string, unknown?][] = [
      ["GET", ""],
      ["POST", "", { name: 5 }],
      ["PUT", "/books", { nope: 1 }],
      ["DELETE", "/books"],
      ["GET", "/books/rows?limit=0"],
      ["POST", "/books/rows", {}],
      ["GET", "/books/rows/1"],
      ["PUT", "/books/rows/1", { row: 1 }],
      ["DELETE", "/books/rows/1"],
    ];
    const theirs = `/organizations/${other?.id}/databases`;
    for (const [method, path, body] of routes) {
      const options = { ...stranded, ...(body !== undefined && { body }) };
      const inOurs = await t.tables(method, path, body, stranded);
      const oursAtTheirs = await t.call(method, `${theirs}/${t.schema}/tables${path}`, options);
      const missing = await t.call(method, `${theirs}/dbs_${"0".repeat(26)}/tables${path}`, options);
      const malformed = await t.call(method, `${theirs}/x'--/tables${path}`, options);
      const shapes = [inOurs, oursAtTheirs, missing, malformed].map(({ status, body: answer }) => {
        const { requestId: _, ...rest } = answer;
        return { status, rest };
      });
      expect(shapes[0]?.status).toBe(404);
      expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    }
  });

  it("gets the 404 of a table before the 400 of a body", async () => {
    expect((await t.tables("PUT", "/nowhere", { nope: 1 })).status).toBe(404);
    expect((await t.tables("PUT", "/nowhere?dryRun=7", {})).status).toBe(404);
    expect((await t.tables("GET", "/nowhere/rows?limit=0")).status).toBe(404);
    expect((await t.tables("GET", "/nowhere/rows?cursor=x")).status).toBe(404);
    expect((await t.tables("POST", "/nowhere/rows", { row: 1 })).status).toBe(404);
  });
});
