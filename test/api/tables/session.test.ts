import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type DatabaseRunner, databaseRunner } from "../../../lambdas/aws/databases.ts";
import { DatabaseError } from "../../../lambdas/aws/errors.ts";
import { readTables, type StoredTable } from "../../../lambdas/tables/model/catalog.ts";
import { checkStatement } from "../../../lambdas/tables/model/change-statement.ts";
import { anyVersion, changeTable } from "../../../lambdas/tables/model/change-table.ts";
import { ownStates } from "../../../lambdas/tables/model/inner-names.ts";
import { type Session, sessionOn } from "../../../lambdas/tables/model/session.ts";
import { query } from "../../../lambdas/tables/model/sql.ts";
import { changeStatements } from "../../../lambdas/tables/model/statements.ts";
import { startTables, type Tables } from "./fixture.ts";

let t: Tables;
let databases: DatabaseRunner;
beforeAll(async () => {
  t = await startTables();
  databases = databaseRunner({
    DATABASE_ARN: process.env.DATABASE_ARN ?? "",
    DATABASE_SECRET_ARN: process.env.DATABASE_SECRET_ARN ?? "",
    DATABASE_WAIT_SECONDS: "20",
  });
  await t.given("mine", [{ name: "a", type: "text" }], [{ a: "1" }]);
  await sessionOn(databases, "dbs_theirs", "", new Date()).prepare();
  await t.rds.sql('create table "dbs_theirs"."secrets" as select 1 as a');
}, 120_000);
afterAll(() => t.stop());

const open = (requestMs = 20_000): Session => sessionOn({ ...databases, requestMs }, t.schema, "", new Date());
const statement = (text: string) => query({ a: "text" }, sql`${sql.raw(text)}`);

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "done",
    (error) => (error instanceof DatabaseError ? error.state : error),
  );
}

describe("a statement on a database", () => {
  const permissionDenied = "42501";

  it("runs as the database's own role", async () => {
    expect(await open().query(statement("select cast(current_user as text)"))).toEqual([{ a: t.schema }]);
  });

  test.each([
    'select cast(a as text) from "dbs_theirs"."secrets"',
    `with gone as (delete from "dbs_theirs"."$tables" returning 1) select cast(count(*) as text) from gone`,
    `select "dbs_theirs"."$change_2"('x', -1, null, '[]', false, 0)`,
    `select cast(query_to_xml('select a from dbs_theirs.secrets', true, true, '') as text)`,
    "select set_config('role', 'dbs_theirs', true)",
    "select set_config('role', 'none', true)",
    "select set_config('session_authorization', 'postgres', true)",
  ])("is refused by PostgreSQL itself where it reaches for another database: %s", async (text) => {
    expect(await refusal(open().query(statement(text)))).toBe(permissionDenied);
  });

  test.each(['drop table "dbs_theirs"."secrets"', 'create table "dbs_theirs"."mine" ()', "set role postgres"])(
    "of a change is refused as well: %s",
    async (text) => {
      const statements = [{ sql: text, path: "", check: false as const }];
      const change = { name: "crafted", version: 0, definition: { name: "crafted", comment: null, columns: [] } };
      const result = await changeTable(open(), { ...change, statements });
      expect(result).toMatchObject({ state: "refused", code: permissionDenied });
      expect(await t.rds.sql('select a from "dbs_theirs"."secrets"')).toEqual([[1]]);
    },
  );

  it("leaves the role of the connection as it was", async () => {
    const [before] = await t.rds.sql("select cast(current_user as text)");
    await open().query(statement("select '1'"));
    expect(await t.rds.sql("select cast(current_user as text)")).toEqual([before]);
  });
});

describe("a new database", () => {
  const lines = async (from: string) => (await t.rds.sql(from)).map((row) => row.join(" "));
  const onUpdate = "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";

  async function withTable() {
    const database = await t.newDatabase();
    const columns = [
      { name: "a", type: "text" },
      { name: "seen", type: "date", default: onUpdate },
    ];
    expect((await database.tables("POST", "", { name: "first", columns })).status).toBe(201);
    return database;
  }

  it("gets a role of its own, which cannot sign in and owns all that it has", async () => {
    const { schema } = await withTable();
    expect(await lines(`select rolcanlogin::text from pg_roles where rolname = '${schema}'`)).toEqual(["false"]);
    const inside = `'"${schema}"'::regnamespace`;
    const owned = await lines(`select kind, name, owner::regrole::text from (
      select 'schema' as kind, nspname::text as name, nspowner as owner from pg_namespace where nspname = '${schema}'
      union all select relkind::text, relname::text, relowner from pg_class where relnamespace = ${inside}
      union all select 'f', proname::text, proowner from pg_proc where pronamespace = ${inside}
    ) as owned where name !~ '^[$][-0-9a-f]{36}$' order by kind, name`);
    const names = [
      ...["S $tables_number", "f $change_2", "f $float_fits_2", "f $json_fits_1", "f $query_1", "f $row_1"],
      ...["i $claims_hash", "i $tables_folded", "i $tables_name", "r $claims", "r $tables", "r first"],
      `schema ${schema}`,
    ];
    expect(owned).toEqual(names.map((name) => `${name} ${schema}`));
  });

  it("has functions that find only its own objects; two of them run as its role for every caller", async () => {
    const { schema } = await withTable();
    const path = `"search_path=${schema}, pg_temp"`;
    const functions = `select proname::text, prosecdef::text, provolatile::text, proconfig::text from pg_proc
      where pronamespace = '"${schema}"'::regnamespace order by proname`;
    expect(await lines(functions)).toEqual([
      `$change_2 true v {lock_timeout=8s,${path}}`,
      `$float_fits_2 false i {${path}}`,
      `$json_fits_1 false v {${path}}`,
      `$query_1 true v {${path}}`,
      `$row_1 false v {${path}}`,
    ]);
  });

  it("keeps all that it has when it is prepared again", async () => {
    const { schema, tables } = await withTable();
    await tables("POST", "/first/rows", { row: { a: "kept" } });
    const before = (await tables("GET")).body;
    await sessionOn(databases, schema, "", new Date()).prepare();
    expect((await tables("GET")).body).toEqual(before);
    expect((await tables("GET", "/first/rows")).body.rows).toMatchObject([{ id: 1, a: "kept" }]);
    expect((await tables("POST", "", { name: "FIRST", columns: [] })).body.code).toBe("table_exists");
  });

  it("sets the times of a row when it is changed, and keeps its rows small", async () => {
    const { tables } = await withTable();
    const { row } = (await tables("POST", "/first/rows", { row: { a: "1" } })).body;
    expect([row.seen, row.updated_at]).toEqual([row.created_at, row.created_at]);
    await t.rds.sql("select pg_sleep(0.003)");
    const changed = (await tables("PUT", "/first/rows/1", { row: { a: "2" } })).body.row;
    expect(changed.updated_at > row.updated_at).toBe(true);
    expect(changed).toEqual({ ...row, a: "2", seen: changed.updated_at, updated_at: changed.updated_at });
    const seen = "2020-01-01T00:00:00.000Z";
    expect((await tables("PUT", "/first/rows/1", { row: { seen } })).body.row).toMatchObject({ a: "2", seen });
    const large = await tables("POST", "/first/rows", { row: { a: "x".repeat(400_000) } });
    expect([large.status, large.body.issues?.[0].path]).toEqual([400, "row"]);
  });

  it("converts a text to JSON only if all of it stays", async () => {
    const { tables } = await withTable();
    const whole = ['{"\\u0000":"\\ud800","a":[1e21,0.10,-5]}', `${"[".repeat(256)}${"]".repeat(256)}`];
    for (const a of [...whole, "12345678901234567890"]) await tables("POST", "/first/rows", { row: { a } });
    const change = { modify: [{ name: "a", type: "json" }] };
    const refused = await tables("PUT", "/first", change);
    expect([refused.status, refused.body.row]).toEqual([409, 3]);
    await tables("DELETE", "/first/rows/3");
    expect((await tables("PUT", "/first?dryRun=true", change)).status).toBe(200);
    expect((await tables("GET", "/first/rows")).body.rows.map(({ a }: { a: string }) => a)).toEqual(whole);
    expect((await tables("PUT", "/first", change)).status).toBe(200);
    expect((await tables("DELETE", "/first")).status).toBe(200);
    expect((await tables("GET")).body.tables).toEqual([]);
  });
});

describe("a database of an earlier version, whose tables belong to the service's role", () => {
  it("is taken over by its own role with the first call", async () => {
    await t.given("early", [{ name: "a", type: "text" }], [{ a: "1" }]);
    const [[service]] = (await t.rds.sql("select cast(current_user as text)")) as [[string]];
    const names = (await t.rds.sql(
      `select cast(relname as text) from pg_class where relnamespace = '"${t.schema}"'::regnamespace and relkind = 'r'`,
    )) as [string][];
    for (const [name] of names) await t.rds.sql(`alter table "${t.schema}"."${name}" owner to "${service}"`);
    await t.rds.sql(`alter schema "${t.schema}" owner to "${service}"`);
    for (const name of ["$query_1(text, text[], bigint)", "$change_2(text, bigint, text, text, boolean, bigint)"]) {
      const [, bare, parameters] = /^(.+)(\(.*\))$/.exec(name) ?? [];
      await t.rds.sql(`drop function "${t.schema}"."${bare}"${parameters}`);
    }
    expect((await t.tables("GET", "/early/rows")).body.rows).toMatchObject([{ a: "1" }]);
    expect((await t.tables("PUT", "/early", { comment: "taken over" })).status).toBe(200);
    expect((await t.tables("POST", "/early/rows", { row: { a: "2" } })).status).toBe(201);
  });
});

describe("a statement that is done after its request's time", () => {
  const count = async () => (await t.rds.sql(`select count(*) from "${t.schema}"."mine"`))[0]?.[0];
  const insert = (seconds: number) =>
    statement(
      `with made as (insert into "${t.schema}"."mine" (a) values ('late') returning a)
       select made.a from made cross join lateral (select pg_sleep(${seconds})) as slept`,
    );

  it("is taken back: a row", async () => {
    const before = await count();
    await expect(open(100).query(insert(0.2))).rejects.toMatchObject({ code: "unavailable" });
    expect(await count()).toBe(before);
    expect(await open(10_000).query(insert(0))).toEqual([{ a: "late" }]);
    expect(await count()).toBe(Number(before) + 1);
  });

  it("is not begun", async () => {
    const before = await count();
    await expect(open(0).query(insert(0))).rejects.toMatchObject({ code: "unavailable" });
    expect(await count()).toBe(before);
  });

  it("is taken back: a change", async () => {
    const statements = [{ sql: "select pg_sleep(0.2)", path: "", check: false as const }];
    const definition = { name: "late", comment: null, columns: [] };
    const result = await changeTable(open(100), { name: "late", version: 0, definition, statements });
    expect(result).toMatchObject({ state: "refused", code: ownStates.tooLate });
    expect((await t.tables("GET")).body.tables.map(({ name }: { name: string }) => name)).not.toContain("late");
  });

  it("is a 503 that says to retry, when PostgreSQL ends it", async () => {
    const message = "ERROR: canceling statement due to statement timeout; SQLState: 57014";
    const headers = { "x-amzn-errortype": "DatabaseErrorException" };
    t.rds.intercept = () => ({ status: 400, headers, body: JSON.stringify({ message }) });
    const asked = open().query(statement("select '1'"));
    await expect(asked).rejects.toMatchObject({ code: "unavailable" });
    t.rds.intercept = undefined;
  });

  it("is a 503 that says to retry, when no answer comes", async () => {
    let release = () => {};
    const held = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    t.rds.hold = held;
    // The request should have ended 1.9 s ago, and its answer is waited for 2 s longer.
    const asked = open(-1_900).query(statement("select '1'"));
    await expect(asked).rejects.toMatchObject({ name: "DatabaseTimeout" });
    t.rds.hold = undefined;
    release();
  });
});

describe("the catalog", () => {
  /** A new database with two tables whose comments need two answers of the Data API. */
  async function withLargeTables(): Promise<string> {
    const { schema, tables } = await t.newDatabase();
    for (const name of ["one", "two"]) expect((await tables("POST", "", { name, columns: [] })).status).toBe(201);
    const comment = "repeat('☃', case when name = 'one' then 1 else 199999 end)";
    await t.rds.sql(`update "${schema}"."$tables"
      set definition = json_build_object('name', name, 'comment', ${comment}, 'columns', json_build_array())`);
    return schema;
  }
  const told = (tables: StoredTable[]) =>
    tables.map(({ definition, version }) => [definition.name, definition.comment?.length, version]);

  it("is read in as many statements as it needs, oldest table first", async () => {
    const schema = await withLargeTables();
    t.rds.calls.length = 0;
    const tables = await readTables(sessionOn(databases, schema, "", new Date()));
    expect(told(tables)).toEqual([
      ["one", 1, 1],
      ["two", 199_999, 1],
    ]);
    expect(t.rds.calls).toEqual(["/Execute", "/Execute"]);
  });

  it("is read again when it has changed between two statements", async () => {
    const schema = await withLargeTables();
    let calls = 0;
    const run: DatabaseRunner["run"] = async (...call) => {
      const rows = await databases.run(...call);
      calls += 1;
      if (calls === 1) await t.rds.sql(`update "${schema}"."$tables" set version = 2 where name = 'two'`);
      return rows;
    };
    const tables = await readTables(sessionOn({ ...databases, run }, schema, "", new Date()));
    expect(told(tables)).toEqual([
      ["one", 1, 1],
      ["two", 199_999, 2],
    ]);
    expect(calls).toBe(4);
  });

  const failed = {
    status: 400,
    headers: { "x-amzn-errortype": "DatabaseErrorException" },
    body: JSON.stringify({ message: "ERROR: internal; SQLState: XX000" }),
  };

  it("is not empty when it cannot be read, and nothing is missing when it cannot be changed", async () => {
    const { schema, tables } = await t.newDatabase();
    expect((await tables("POST", "", { name: "one", columns: [] })).status).toBe(201);
    await t.rds.sql(`alter table "${schema}"."$tables" rename column version to renamed`);
    expect((await tables("GET")).status).toBe(500);
    t.rds.intercept = ({ body }) => (body.includes("$change_") ? failed : undefined);
    const [change, creation] = [await tables("DELETE", "/one"), await tables("POST", "", { name: "two", columns: [] })];
    t.rds.intercept = undefined;
    expect([change.status, creation.status]).toEqual([500, 500]);
  });
});

describe("a change of a table", () => {
  it("tells whether another change has come before it", async () => {
    const change = { name: "mine", definition: { name: "mine", comment: null, columns: [] }, statements: [] };
    expect(await changeTable(open(), { ...change, version: 0 })).toEqual({ state: "exists" });
    expect(await changeTable(open(), { ...change, version: 999 })).toEqual({ state: "changed" });
    const deletion = { name: "none", definition: null, version: anyVersion, statements: [] };
    expect(await changeTable(open(), deletion)).toEqual({ state: "missing" });
  });

  it("holds the table for itself before the first row is looked at, so that no row changes behind a check", async () => {
    const column = (type: "text" | "json") => ({
      name: "a",
      type,
      nullable: true,
      unique: false,
      default: null,
      comment: null,
      constraint: null,
    });
    const definition = { name: "mine", comment: null, columns: [column("json")] };
    const step = { do: "convert", path: "", column: "a", from: "text", to: "json", default: null } as const;
    const statements = changeStatements(t.schema, "mine", { definition, steps: [step] });
    const first = statements.findIndex((one) => one.check);
    const free = sql`select 1 where not exists (select from pg_locks
      where relation = '"${sql.raw(t.schema)}"."mine"'::regclass and mode = 'AccessExclusiveLock' and granted)`;
    const probe = checkStatement("probe", free, ownStates.valueInTheWay);
    const change = { name: "mine", version: -1, definition, dryRun: true };
    const [[version]] = (await t.rds.sql(`select version from "${t.schema}"."$tables" where name = 'mine'`)) as [
      [number],
    ];
    const probed = [...statements.slice(0, first), probe];
    expect(await changeTable(open(), { ...change, version, statements: probed })).toEqual({ state: "done" });
    expect(await changeTable(open(), { ...change, version, statements: [probe] })).toMatchObject({ state: "refused" });
  });
});
