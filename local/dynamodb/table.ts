import { CreateTableCommand, type DynamoDBClient, ResourceInUseException } from "@aws-sdk/client-dynamodb";

/** Creates the table as `lib/` does on AWS: keys pk and sk, and a sparse index of locks by the end of their lease. */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
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
