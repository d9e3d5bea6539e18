import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDb } from "../../../local/dynamodb/server.ts";
import { callAt, type Running, startRunning } from "../../harness/service.ts";
import { brokenRules, type DirectTable, directTable, type Row } from "./invariants.ts";
import { openTableGate, type TableCall, type TableGate } from "./table-gate.ts";

export interface Guarded {
  running: Running;
  gate: TableGate;
  /** The database behind the proxy. */
  database: string;
  /** The table past the gate. */
  direct: DirectTable;
  /** Changes the expiry of rows to simulate the passing of time. */
  expire(which: (row: Row) => boolean, expiresAt: Date): Promise<void>;
  /** Incomplete rows in the table, or in one project; a key that its project does not list is found only in the whole table. */
  broken(project?: Running): Promise<string[]>;
  /** `running` bound to a project and a key of its own. */
  newProject(): Promise<Running>;
  /** Whether a call of the service is about this project or its key. */
  concerns(project: Running, call: TableCall): boolean;
  stop(): Promise<void>;
}

const projectIdOf = (project: Running) => project.project.split("/").at(-1) ?? "";

/** A DynamoDB with a gate before it, and the variable that leads a service there. */
export async function openTable(): Promise<{
  gate: TableGate;
  database: string;
  direct: DirectTable;
  close(): Promise<void>;
}> {
  const home = mkdtempSync(join(tmpdir(), "slipway-table-"));
  delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const database = await startDynamoDb({ file: join(home, "table.db"), tableName: "slipway" });
  const gate = await openTableGate(database.endpoint);
  const direct = directTable(database.endpoint);
  return {
    gate,
    database: database.endpoint,
    direct,
    async close() {
      direct.close();
      await gate.close();
      await database.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The whole local service in this process, its table behind a gate. */
export async function startGuarded(options: Parameters<typeof startRunning>[1] = {}): Promise<Guarded> {
  const { gate, database, direct, close } = await openTable();
  process.env.AWS_ENDPOINT_URL_DYNAMODB = gate.endpoint;
  const running = await startRunning(undefined, options);
  return {
    running,
    gate,
    database,
    direct,
    async expire(which, expiresAt) {
      for (const row of (await direct.rows()).filter(which)) {
        await direct.put({ ...row, expiresAt: expiresAt.toISOString() });
      }
    },
    async broken(project) {
      return brokenRules(await (project === undefined ? direct.rows() : direct.rowsOf(projectIdOf(project))));
    },
    async newProject() {
      const { organizationId, baseUrl } = running.seed;
      const { project } = await running.operator("create-project", { organizationId, name: "Another" });
      const { credential } = await running.operator("create-credential", { projectId: project?.id });
      const access = String(credential?.access);
      const bearer = `${access}:${credential?.secret}`;
      return {
        ...running,
        seed: { ...running.seed, projectId: String(project?.id), accessKey: access },
        project: `/organizations/${organizationId}/projects/${project?.id}`,
        call: (method, path, options) => callAt(baseUrl, bearer, method, path, options),
      };
    },
    concerns: (project, { body }) => body.includes(projectIdOf(project)) || body.includes(project.seed.accessKey),
    async stop() {
      gate.before = undefined;
      gate.after = undefined;
      await running.stop();
      await close();
    },
  };
}
