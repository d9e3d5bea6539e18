import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { rethrowWithoutQuotes, type TableConnection } from "./client.ts";
import type { Item, Key } from "./entity.ts";

/** Reads the whole table; only the command that brings rows of earlier versions up to date may. */
export interface TableScanner {
  /** A page of at most `limit` rows of all kinds, strongly consistent; `next` is null after the last page. */
  page(limit: number, after: Key | undefined): Promise<{ items: Item[]; next: Key | null }>;
}

/** Reads every row of the single table. */
export function tableScanner(client: TableConnection, tableName: string): TableScanner {
  return {
    async page(limit, after) {
      const command = new ScanCommand({
        TableName: tableName,
        Limit: limit,
        ConsistentRead: true,
        ExclusiveStartKey: after,
      });
      const { Items = [], LastEvaluatedKey } = await client.send(command).catch(rethrowWithoutQuotes);
      return { items: Items, next: (LastEvaluatedKey as Key | undefined) ?? null };
    },
  };
}
