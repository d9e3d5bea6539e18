import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabaseRunner, databaseRunner } from "../../lambdas/aws/databases.ts";
import { newInnerName, readTables } from "../../lambdas/tables/model/catalog.ts";
import { changeTable } from "../../lambdas/tables/model/change-table.ts";
import type { Definition } from "../../lambdas/tables/model/definition.ts";
import { insertQuery, listQuery } from "../../lambdas/tables/model/rows.ts";
import { type Session, sessionOn } from "../../lambdas/tables/model/session.ts";
import { createStatements } from "../../lambdas/tables/model/statements.ts";
import { fetchRows } from "../../lambdas/tables/model/stored-rows.ts";
import { startAwsServer } from "../../local/aws/server.ts";
import { createRdsData } from "../../local/rds/server.ts";
import { type Measured, median } from "./measure.ts";
import { benchParallelChanges } from "./parallel-changes.ts";

const schema = "dbs_bench";
const rounds = 40;
const rowCount = 200;

function definition(name: string): Definition {
  const types = ["string", "text", "integer", "float", "boolean", "date", "json"] as const;
  const columns = types.map((type) => ({
    name: `${type}_column`,
    type,
    nullable: true,
    unique: type === "integer",
    default: null,
    comment: null,
    constraint: type === "integer" ? newInnerName() : null,
  }));
  return { name, comment: null, columns };
}

const minuteMs = 60_000;

/** Opens a session for one request, as a function does. */
const openSession = (databases: DatabaseRunner) => sessionOn(databases, schema, "secret", new Date());

async function create(session: Session, name: string): Promise<void> {
  const table = definition(name);
  const statements = createStatements(schema, table, newInnerName);
  const result = await changeTable(session, { name, version: 0, definition: table, statements });
  if (result.state !== "done") throw new Error(`The table was not made: ${result.state}`);
}

function runBare(databases: DatabaseRunner, sql: string) {
  return databases.run({ sql, values: [] }, Date.now() + minuteMs);
}

async function byHand(databases: DatabaseRunner, name: string): Promise<void> {
  const statements = createStatements(schema, definition(name), newInnerName);
  for (const { sql } of statements) await runBare(databases, sql);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function compare(ours: (round: number) => Promise<unknown>, theirs: (round: number) => Promise<unknown>) {
  const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await timed(() => ours(round)));
    times.theirs.push(await timed(() => theirs(round)));
  }
  return { ours: median(times.ours), theirs: median(times.theirs) };
}

async function benchCreate(databases: DatabaseRunner): Promise<Measured> {
  const { ours, theirs } = await compare(
    (round) => create(openSession(databases), `ours_${round}`),
    (round) => byHand(databases, `hand_${round}`),
  );
  return {
    name: "tables: create a table / the same DDL by hand",
    ratio: ours / theirs,
    bound: 3,
    detail: `${ours.toFixed(1)} ms, by hand ${theirs.toFixed(1)} ms, medians of ${rounds}`,
  };
}

async function benchRows(databases: DatabaseRunner): Promise<Measured> {
  const session = openSession(databases);
  await create(session, "rows");
  for (let row = 0; row < rowCount; row += 1) {
    const values = [
      { column: "integer_column", type: "integer" as const, text: String(row) },
      { column: "text_column", type: "text" as const, text: "some words in a row ".repeat(5) },
      { column: "json_column", type: "json" as const, text: '{"a":[1,2,{"b":null}]}' },
    ];
    await openSession(databases).query(insertQuery(schema, "rows", values));
  }
  const plain = `select * from "${schema}"."rows" where id > 0 order by id limit ${rowCount}`;
  const { ours, theirs } = await compare(
    async () => {
      const { rows } = await fetchRows(openSession(databases), listQuery(schema, "rows", 0, rowCount));
      if (rows.length !== rowCount) throw new Error(`The page has ${rows.length} rows`);
    },
    () => runBare(databases, plain),
  );
  return {
    name: `tables: a page of ${rowCount} rows / a bare select`,
    ratio: ours / theirs,
    bound: 3,
    detail: `${ours.toFixed(1)} ms, select ${theirs.toFixed(1)} ms, medians of ${rounds}`,
  };
}

async function benchList(databases: DatabaseRunner, calls: () => number): Promise<Measured> {
  const before = calls();
  const tables = await readTables(openSession(databases));
  const statements = calls() - before;
  return {
    name: `tables: statements to list ${tables.length} tables`,
    ratio: statements,
    bound: 1,
    detail: `${statements} statement`,
  };
}

/** Compares table management with bare statements on the same embedded PostgreSQL, both through the Data API. */
async function benchStatements(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-tables-"));
  const data = createRdsData({ dir: folder });
  let calls = 0;
  const key = { accessKeyId: "local", secretAccessKey: "local" };
  const server = await startAwsServer({
    credentials: { find: () => ({ ...key, principalArn: "bench" }) },
    raw: [
      (request) => {
        calls += 1;
        return data.service(request);
      },
    ],
  });
  const names = ["AWS_ENDPOINT_URL_RDS_DATA", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
  const kept = names.map((name) => [name, process.env[name]] as const);
  const settings = [server.endpoint, "us-east-1", key.accessKeyId, key.secretAccessKey];
  for (const [index, name] of names.entries()) process.env[name] = settings[index];
  try {
    const databases = databaseRunner({
      DATABASE_ARN: "arn:aws:rds:us-east-1:000000000000:cluster:bench",
      DATABASE_SECRET_ARN: "arn:aws:secretsmanager:us-east-1:000000000000:secret:bench",
      DATABASE_WAIT_SECONDS: "20",
    });
    await runBare(databases, "select 1");
    await create(openSession(databases), "warm");
    const results = [await benchCreate(databases), await benchRows(databases)];
    results.push(await benchList(databases, () => calls));
    return results;
  } finally {
    for (const [name, value] of kept) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await server.close();
    await data.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export async function benchTables(): Promise<Measured[]> {
  return [...(await benchStatements()), await benchParallelChanges()];
}
