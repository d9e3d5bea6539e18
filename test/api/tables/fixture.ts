import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AwsServer } from "../../../local/aws/http-server.ts";
import { startAwsServer } from "../../../local/aws/server.ts";
import type { RawRequest, RawResponse } from "../../../local/aws/service.ts";
import { cacheFolder } from "../../../local/cache-folder.ts";
import { createRdsData, type RdsData } from "../../../local/rds/server.ts";
import { type Answer, type CallOptions, type Running, startRunning } from "../../harness/service.ts";
import { environmentKeys } from "../../harness/signing.ts";

const target = {
  resourceArn: "arn:aws:rds:us-east-1:000000000000:cluster:slipway",
  secretArn: "arn:aws:secretsmanager:us-east-1:000000000000:secret:slipway",
};

export interface RdsServer {
  endpoint: string;
  /** The paths of the Data API's calls since the last clear, e.g. `/Execute`. */
  calls: string[];
  /** If it returns a value, this replaces the Data API's response. */
  intercept: ((request: RawRequest) => RawResponse | undefined) | undefined;
  /** Whether the answer to a call that was carried out gets lost. */
  lose: ((request: RawRequest) => boolean) | undefined;
  /** Answers wait for this while it is set. */
  hold: Promise<undefined> | undefined;
  /** Runs a statement directly, without the service, and returns its records as plain values. */
  sql(statement: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

async function execute(data: RdsData, sql: string): Promise<unknown[][]> {
  const body = Buffer.from(JSON.stringify({ ...target, sql }));
  const response = await data.service({
    method: "POST",
    path: "/Execute",
    query: new URLSearchParams(),
    headers: {},
    body,
  });
  const answer = JSON.parse(String(response?.body));
  if (response?.status !== 200) throw new Error(answer.message);
  return (answer.records ?? []).map((record: Record<string, unknown>[]) =>
    record.map((field) => ("isNull" in field ? null : Object.values(field)[0])),
  );
}

/** The Data API on a port of its own, its calls counted. */
export async function startRds(): Promise<RdsServer> {
  const dir = mkdtempSync(join(tmpdir(), "slipway-rds-"));
  const data = createRdsData({ dir: join(dir, "pg"), cacheDir: cacheFolder });
  const server: AwsServer = await startAwsServer({
    credentials: environmentKeys,
    raw: [
      async (request) => {
        rds.calls.push(request.path);
        await rds.hold;
        const answer = rds.intercept?.(request) ?? (await data.service(request));
        return rds.lose?.(request) ? { status: 500, body: "{}" } : answer;
      },
    ],
  });
  const rds: RdsServer = {
    endpoint: server.endpoint,
    calls: [],
    intercept: undefined,
    lose: undefined,
    hold: undefined,
    sql: (statement) => execute(data, statement),
    async close() {
      await server.close();
      await data.close();
      rmSync(dir, { recursive: true });
    },
  };
  await started(rds);
  return rds;
}

/** PostgreSQL starts with the first call, which is refused if that takes long. */
async function started(rds: RdsServer): Promise<void> {
  for (;;) {
    try {
      return void (await rds.sql("select 1"));
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("is starting"))) throw error;
    }
  }
}

/** A call under `/organizations/…/databases/…/tables` of a database. */
type TablesCall = (method: string, path?: string, body?: unknown, options?: CallOptions) => Promise<Answer>;

interface Database {
  /** The schema of the database, which is its id. */
  schema: string;
  tables: TablesCall;
}

/** `schema` and `tables` are those of the seeded database. */
export interface Tables extends Running, Database {
  rds: RdsServer;
  /** A database of the same organization without tables, which PostgreSQL does not know yet; the tenth call after it deletes it. */
  newDatabase(): Promise<Database>;
  /** Creates a table of these columns and these rows, in place of one that a failed test has left. */
  given(name: string, columns: object[], rows?: object[]): Promise<void>;
}

/** How many databases of `newDatabase` exist at once: far fewer than an organization may have, when a test is repeated. */
const databasesMax = 10;

/** The whole service with a PostgreSQL of its own. */
export async function startTables(): Promise<Tables> {
  const rds = await startRds();
  process.env.AWS_ENDPOINT_URL_RDS_DATA = rds.endpoint;
  const running = await startRunning();
  // As on AWS: locally the first call waits longer, since PostgreSQL starts with it.
  process.env.DATABASE_WAIT_SECONDS = "20";
  const { organizationId } = running.seed;
  const tablesOf =
    (id: string): TablesCall =>
    (method, path = "", body, options) =>
      running.call(method, `/organizations/${organizationId}/databases/${id}/tables${path}`, {
        ...(body !== undefined && { body }),
        ...options,
      });
  const tables = tablesOf(running.seed.databaseId);

  async function given(name: string, columns: object[], rows: object[] = []): Promise<void> {
    const create = () => tables("POST", "", { name, columns });
    let made = await create();
    if (made.body.code === "table_exists") {
      await tables("DELETE", `/${name}`);
      made = await create();
    }
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    for (const row of rows) {
      const stored = await tables("POST", `/${name}/rows`, { row });
      if (stored.status !== 201) throw new Error(JSON.stringify(stored.body));
    }
  }
  const made: string[] = [];
  return {
    ...running,
    rds,
    schema: running.seed.databaseId,
    tables,
    async newDatabase() {
      const { database } = await running.operator("create-database", { organizationId, name: "New" });
      const schema = String(database?.id);
      made.push(schema);
      const old = made.length > databasesMax ? made.shift() : undefined;
      if (old !== undefined) await running.call("DELETE", `/organizations/${organizationId}/databases/${old}`);
      return { schema, tables: tablesOf(schema) };
    },
    given,
    async stop() {
      await running.stop();
      await rds.close();
    },
  };
}
