import { setTimeout as sleep } from "node:timers/promises";
import { ConditionalCheckFailedException, TransactionConflictException } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { RetriesExhausted } from "../aws/transient.ts";
import { rethrowWithoutQuotes, type TableConnection } from "./client.ts";
import type { Update } from "./entity.ts";
import { updateOf } from "./expression.ts";

/** Updates single rows, but cannot put or delete them; for routes that read and also record something, such as the last use of a key. */
export interface RowUpdater {
  /** One update; if its condition does not hold, the row that was there. */
  update<R>(update: Update<R>): Promise<{ ok: true; row: R } | { ok: false; old: R | undefined }>;
  /** One attempt, for updates that the request can do without; returns the row after the update. */
  updateBestEffort<R>(update: Update<R>): Promise<R | undefined>;
}

const attemptsMax = 6;

/** Updates of single rows of the table. */
export function rowUpdater(client: TableConnection, tableName: string): RowUpdater {
  async function updateBestEffort<R>(update: Update<R>): Promise<R | undefined> {
    const command = new UpdateCommand({
      ...updateOf(tableName, update),
      ReturnValues: "ALL_NEW",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
    const output = await client.send(command).catch(rethrowWithoutQuotes);
    return output.Attributes && update.read(output.Attributes);
  }

  async function update<R>(one: Update<R>) {
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (attempt > 0) await sleep(15 * 2 ** attempt * Math.random());
      try {
        const row = await updateBestEffort(one);
        if (row !== undefined) return { ok: true as const, row };
        throw new Error("An update gave no row");
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) {
          return { ok: false as const, old: error.Item && one.read(unmarshall(error.Item)) };
        }
        if (!(error instanceof TransactionConflictException)) throw error;
      }
    }
    throw new RetriesExhausted("The update kept conflicting with transactions");
  }

  return { update, updateBestEffort };
}
