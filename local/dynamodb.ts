import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import { spawnTethered } from "./process/process-group.ts";

export interface DynamoDb {
  endpoint: string;
  close(): Promise<void>;
}

function binaryPath(): string {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    throw new Error(
      `There is no embedded DynamoDB for ${process.platform}-${process.arch}. Start DynamoDB Local or another compatible server and set AWS_ENDPOINT_URL_DYNAMODB to its address.`,
    );
  }
}

async function waitUntilServing(client: DynamoDBClient, hasEnded: () => boolean): Promise<string[]> {
  for (;;) {
    try {
      return (await client.send(new ListTablesCommand({}))).TableNames ?? [];
    } catch (error) {
      if (hasEnded()) throw new Error("The embedded DynamoDB ended at once", { cause: error });
      await sleep(10);
    }
  }
}

/** The single table as `lib/` creates it in AWS: keys pk and sk, and the sparse index of locks by the end of their lease. */
async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const key = (AttributeName: string, KeyType: "HASH" | "RANGE") => ({ AttributeName, KeyType });
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: ["pk", "sk", "lockShard", "leaseUntil"].map((AttributeName) => ({
          AttributeName,
          AttributeType: "S",
        })),
        KeySchema: [key("pk", "HASH"), key("sk", "RANGE")],
        GlobalSecondaryIndexes: [
          {
            IndexName: "locks",
            KeySchema: [key("lockShard", "HASH"), key("leaseUntil", "RANGE")],
            Projection: { ProjectionType: "ALL" },
          },
        ],
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

/** DynamoDB on this machine: a server the user has named, or the embedded one on a SQLite file, tethered to this process. */
export async function startDynamoDb(options: { file: string; port: number; tableName: string }): Promise<DynamoDb> {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const endpoint = given ?? `http://127.0.0.1:${options.port}`;
  let ended = false;
  const child = given
    ? undefined
    : spawnTethered(
        binaryPath(),
        ["serve", "--host", "127.0.0.1", "--port", String(options.port), "--db-path", options.file],
        {
          cwd: process.cwd(),
          env: {},
          onExit: () => {
            ended = true;
          },
        },
      );
  const client = new DynamoDBClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  const tables = await waitUntilServing(client, () => ended);
  if (!tables.includes(options.tableName)) await createTable(client, options.tableName);
  client.destroy();
  return { endpoint, close: async () => void (await child?.stop(2_000)) };
}
