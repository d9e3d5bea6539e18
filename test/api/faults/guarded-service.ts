import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDynamoDb } from "../../../local/dynamodb.ts";
import { openPorts } from "../../../local/ports.ts";
import { type Running, startRunning } from "../../harness/service.ts";
import { allRows, brokenRules, type Row } from "./invariants.ts";
import { openTableGate, type TableGate } from "./table-gate.ts";

export interface Guarded {
  running: Running;
  gate: TableGate;
  /** The database behind the gate. */
  database: string;
  rows(): Promise<Row[]>;
  /** What is half-made in the table. */
  broken(): Promise<string[]>;
  /** `running` bound to a project of its own. */
  newProject(): Promise<Running>;
  stop(): Promise<void>;
}

/** A DynamoDB with a gate before it, and the variable that leads a service there. */
export async function openTable(): Promise<{ gate: TableGate; database: string; close(): Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), "slipway-table-"));
  const port = await openPorts(home).of("dynamodb");
  delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const database = await startDynamoDb({ file: join(home, "table.db"), port, tableName: "slipway" });
  const gate = await openTableGate(database.endpoint);
  return {
    gate,
    database: database.endpoint,
    async close() {
      await gate.close();
      await database.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The whole local service in this process, its table behind a gate. */
export async function startGuarded(): Promise<Guarded> {
  const { gate, database, close } = await openTable();
  process.env.AWS_ENDPOINT_URL_DYNAMODB = gate.endpoint;
  const running = await startRunning();
  const rows = () => allRows(database);
  return {
    running,
    gate,
    database,
    rows,
    broken: async () => brokenRules(await rows()),
    async newProject() {
      const { organizationId } = running.seed;
      const { project } = await running.operator("create-project", { organizationId, name: "Another" });
      return { ...running, project: `/organizations/${organizationId}/projects/${project?.id}` };
    },
    async stop() {
      gate.before = undefined;
      gate.after = undefined;
      await running.stop();
      await close();
    },
  };
}
