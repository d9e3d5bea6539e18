import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { documentClient } from "../../lambdas/table/client.ts";
import { type TableReader, tableReader } from "../../lambdas/table/reader.ts";
import { type RowUpdater, rowUpdater } from "../../lambdas/table/updater.ts";
import { type TableWriter, tableWriter } from "../../lambdas/table/writer.ts";
import { startDynamoDb } from "../../local/dynamodb/server.ts";

const tableName = "rows";

/** Starts the embedded DynamoDB alone, with an empty table: for rules whose conditions are the table's. */
export async function startTable(): Promise<{
  table: TableReader & TableWriter & RowUpdater;
  close(): Promise<void>;
}> {
  const home = mkdtempSync(join(tmpdir(), "table-"));
  const database = await startDynamoDb({ file: join(home, "table.db"), tableName });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", database.endpoint);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  const client = documentClient();
  return {
    table: { ...tableReader(client, tableName), ...tableWriter(client, tableName), ...rowUpdater(client, tableName) },
    async close() {
      vi.unstubAllEnvs();
      client.destroy();
      await database.close();
      rmSync(home, { recursive: true });
    },
  };
}
