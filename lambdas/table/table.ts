import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, QueryCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { RetriesExhausted } from "../aws/transient.ts";
import { documentClient, rethrowWithoutQuotes } from "./client.ts";
import type { Key, Write } from "./entity.ts";
import { transactItem } from "./expression.ts";

export type Item = Record<string, unknown>;

export interface Page {
  items: Item[];
  /** Whether more rows follow the last one. */
  more: boolean;
}
export interface Range {
  pk: string;
  /** Only sort keys that begin so. */
  prefix: string;
  /** Exclusive start: the sort key of the last row of the page before. */
  after?: string;
  limit: number;
  newestFirst?: boolean;
}

export interface TableReader {
  /** The rows at these keys in one BatchGetItem, in the keys' order, strongly consistent. */
  get(keys: readonly Key[]): Promise<(Item | undefined)[]>;
  query(range: Range): Promise<Page>;
  /** The locks whose lease ended before this instant. */
  expiredLocks(before: string, limit: number): Promise<Item[]>;
}

/** `failed` names the writes whose condition did not hold, with the row that stood there. */
export type Outcome = { ok: true } | { ok: false; failed: ReadonlyMap<number, Item | undefined> };

export interface TableWriter {
  /** All of these writes or none, in one TransactWriteItems. */
  write(writes: readonly Write[]): Promise<Outcome>;
  /** One unconditional-in-effect write whose failure does not matter; gives the row after it. */
  touch(write: Extract<Write, { kind: "update" }>): Promise<Item | undefined>;
}

const attemptsMax = 6;

/** DynamoDB refuses longer keys (2,048 and 1,024 bytes); nothing can stand there. */
function isPossible({ pk, sk }: Key): boolean {
  return Buffer.byteLength(pk) <= 2_048 && Buffer.byteLength(sk) <= 1_024;
}

/** Reading and writing of the single table; one client per process, keep-alive, with a bounded time per call. */
export function connectTable(tableName: string, silenceMs = 3_000): TableReader & TableWriter {
  const client = documentClient(silenceMs);

  async function get(keys: readonly Key[]): Promise<(Item | undefined)[]> {
    const found = new Map<string, Item>();
    const distinct = new Map(keys.filter(isPossible).map(({ pk, sk }) => [`${pk}\n${sk}`, { pk, sk }]));
    let pending: Item[] = [...distinct.values()];
    for (let attempt = 0; pending.length > 0; attempt += 1) {
      if (attempt === attemptsMax) throw new RetriesExhausted("Some keys stayed unprocessed");
      if (attempt > 0) await sleep(20 * 2 ** attempt * Math.random());
      const output = await client
        .send(
          new BatchGetCommand({
            RequestItems: { [tableName]: { Keys: pending.slice(0, 100), ConsistentRead: true } },
          }),
        )
        .catch(rethrowWithoutQuotes);
      for (const item of output.Responses?.[tableName] ?? []) found.set(`${item.pk}\n${item.sk}`, item);
      pending = [...(output.UnprocessedKeys?.[tableName]?.Keys ?? []), ...pending.slice(100)];
    }
    return keys.map((key) => found.get(`${key.pk}\n${key.sk}`));
  }

  async function query(range: Range): Promise<Page> {
    if (!isPossible({ pk: range.pk, sk: range.after ?? range.prefix })) return { items: [], more: false };
    const items: Item[] = [];
    let start: Item | undefined = range.after === undefined ? undefined : { pk: range.pk, sk: range.after };
    do {
      const command = new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": range.pk, ":prefix": range.prefix },
        ConsistentRead: true,
        ScanIndexForward: !range.newestFirst,
        Limit: range.limit + 1 - items.length,
        ExclusiveStartKey: start,
      });
      const output = await client.send(command).catch(rethrowWithoutQuotes);
      items.push(...(output.Items ?? []));
      start = output.LastEvaluatedKey;
    } while (start !== undefined && items.length <= range.limit);
    return { items: items.slice(0, range.limit), more: items.length > range.limit };
  }

  async function expiredLocks(before: string, limit: number): Promise<Item[]> {
    const command = new QueryCommand({
      TableName: tableName,
      IndexName: "locks",
      KeyConditionExpression: "lockShard = :shard AND leaseUntil < :before",
      ExpressionAttributeValues: { ":shard": "LOCK", ":before": before },
      Limit: limit,
    });
    const output = await client.send(command).catch(rethrowWithoutQuotes);
    return output.Items ?? [];
  }

  async function write(writes: readonly Write[]): Promise<Outcome> {
    // One token over all attempts, the SDK's and ours: an answer that got lost never carries the writes out twice.
    const command = new TransactWriteCommand({
      TransactItems: writes.map((one) => transactItem(tableName, one)),
      ClientRequestToken: randomUUID(),
    });
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (attempt > 0) await sleep(15 * 2 ** attempt * Math.random());
      try {
        await client.send(command).catch(rethrowWithoutQuotes);
        return { ok: true };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw error;
        const reasons = error.CancellationReasons ?? [];
        const failed = new Map<number, Item | undefined>();
        for (const [index, reason] of reasons.entries()) {
          if (reason.Code === "ConditionalCheckFailed") failed.set(index, reason.Item && unmarshall(reason.Item));
        }
        // Beside a conflict the verdict is half known: which other conditions fail is seen on the next try only.
        const isWhole = reasons.every(({ Code }) => Code === "None" || Code === "ConditionalCheckFailed");
        if (failed.size > 0 && (isWhole || attempt === attemptsMax - 1)) return { ok: false, failed };
        if (reasons.some((reason) => reason.Code === "ValidationError")) throw error;
      }
    }
    throw new RetriesExhausted("The transaction kept conflicting with others");
  }

  async function touch(one: Extract<Write, { kind: "update" }>): Promise<Item | undefined> {
    const { Update } = transactItem(tableName, one);
    if (!Update) return undefined;
    const { ReturnValuesOnConditionCheckFailure: _, ...update } = Update;
    const command = new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" });
    const output = await client.send(command).catch(rethrowWithoutQuotes);
    return output.Attributes;
  }

  return { get, query, expiredLocks, write, touch };
}
