import { setTimeout as sleep } from "node:timers/promises";
import { BatchGetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { RetriesExhausted } from "../aws/transient.ts";
import { rethrowWithoutQuotes, type TableConnection } from "./client.ts";
import type { Item, Key, List, Place } from "./entity.ts";

/** Places by name; an undefined one is left out. */
export type Places = Readonly<Record<string, Place<unknown> | undefined>>;
/** The rows by the names of their places; `undefined` for a row that does not exist. */
export type Rows<P extends Places> = { [Name in keyof P]: ReturnType<NonNullable<P[Name]>["read"]> | undefined };

export interface TableReader {
  /** The rows at these places in one BatchGetItem, strongly consistent. */
  read<const P extends Places>(places: P): Promise<Rows<P>>;
  /** One page; `more` says whether rows follow it. */
  list<R>(list: List<R>): Promise<{ rows: R[]; more: boolean }>;
  /** The locks, or the removals, whose lease ended before this instant. */
  expiredLocks<R>(
    lock: { read(item: Item): R },
    before: string,
    limit: number,
    shard?: "LOCK" | "REMOVAL",
  ): Promise<R[]>;
}

/** How often keys of one BatchGetItem are asked for, and how many one can name (the limit of DynamoDB). */
const attemptsMax = 6;
const keysMax = 100;

/** DynamoDB refuses longer keys (2,048 and 1,024 bytes), so no row has one. */
function isPossible({ pk, sk }: Key): boolean {
  return Buffer.byteLength(pk) <= 2_048 && Buffer.byteLength(sk) <= 1_024;
}

const nameOf = ({ pk, sk }: Key | Item) => `${pk}\n${sk}`;

/** Reads of the single table. */
export function tableReader(client: TableConnection, tableName: string): TableReader {
  async function get(keys: readonly Key[]): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    const distinct = new Map(keys.filter(isPossible).map(({ pk, sk }) => [nameOf({ pk, sk }), { pk, sk }]));
    let pending: Item[] = [...distinct.values()];
    let attempt = 0;
    while (pending.length > 0) {
      if (attempt === attemptsMax) throw new RetriesExhausted("Some keys stayed unprocessed");
      if (attempt > 0) await sleep(20 * 2 ** attempt * Math.random());
      const Keys = pending.slice(0, keysMax);
      const command = new BatchGetCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } });
      const output = await client.send(command).catch(rethrowWithoutQuotes);
      for (const item of output.Responses?.[tableName] ?? []) found.set(nameOf(item), item);
      const unprocessed = output.UnprocessedKeys?.[tableName]?.Keys ?? [];
      attempt = unprocessed.length === 0 ? 0 : attempt + 1;
      pending = [...unprocessed, ...pending.slice(keysMax)];
    }
    return found;
  }

  async function read<const P extends Places>(places: P): Promise<Rows<P>> {
    const entries = Object.entries(places).flatMap(([name, place]) => (place ? [[name, place] as const] : []));
    const found = await get(entries.map(([, place]) => place.key));
    const rows = entries.map(([name, place]) => {
      const item = found.get(nameOf(place.key));
      return [name, item && place.read(item)];
    });
    return Object.fromEntries(rows) as Rows<P>;
  }

  async function list<R>({ pk, prefix, limit, after, newestFirst, read: readRow }: List<R>) {
    if (!isPossible({ pk, sk: prefix + (after ?? "") })) return { rows: [], more: false };
    const items: Item[] = [];
    let start: Item | undefined = after === undefined ? undefined : { pk, sk: prefix + after };
    do {
      const command = new QueryCommand({
        TableName: tableName,
        // DynamoDB refuses an empty prefix: that list is the whole partition.
        KeyConditionExpression: prefix === "" ? "pk = :pk" : "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": pk, ...(prefix !== "" && { ":prefix": prefix }) },
        ConsistentRead: true,
        ScanIndexForward: !newestFirst,
        Limit: limit + 1 - items.length,
        ExclusiveStartKey: start,
      });
      const output = await client.send(command).catch(rethrowWithoutQuotes);
      items.push(...(output.Items ?? []));
      start = output.LastEvaluatedKey;
    } while (start !== undefined && items.length <= limit);
    return { rows: items.slice(0, limit).map(readRow), more: items.length > limit };
  }

  async function expiredLocks<R>(
    lock: { read(item: Item): R },
    before: string,
    limit: number,
    shard: "LOCK" | "REMOVAL" = "LOCK",
  ): Promise<R[]> {
    const command = new QueryCommand({
      TableName: tableName,
      IndexName: "locks",
      KeyConditionExpression: "lockShard = :shard AND leaseUntil < :before",
      ExpressionAttributeValues: { ":shard": shard, ":before": before },
      Limit: limit,
    });
    const output = await client.send(command).catch(rethrowWithoutQuotes);
    return (output.Items ?? []).map(lock.read);
  }

  return { read, list, expiredLocks };
}
