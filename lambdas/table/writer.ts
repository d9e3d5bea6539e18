import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type CancellationReason, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { RetriesExhausted } from "../aws/transient.ts";
import { rethrowWithoutQuotes, type TableConnection } from "./client.ts";
import type { Write } from "./entity.ts";
import { transactItem } from "./expression.ts";

/** Writes by name; an undefined one is left out. */
export type Writes = Readonly<Record<string, Write | undefined>>;
/** The writes whose condition did not hold, by name, each with the row that was there. */
export type Failed<W extends Writes> = {
  readonly [Name in keyof W]?: { old: ReturnType<NonNullable<W[Name]>["read"]> | undefined };
};
export type Outcome<W extends Writes> = { ok: true } | { ok: false; failed: Failed<W> };

export interface TableWriter {
  /** All of these writes or none, in one TransactWriteItems. */
  write<const W extends Writes>(writes: W): Promise<Outcome<W>>;
}

const attemptsMax = 6;

const isFailed = ({ Code }: CancellationReason) => Code === "ConditionalCheckFailed";

/** Writes to the single table. */
export function tableWriter(client: TableConnection, tableName: string): TableWriter {
  async function write<const W extends Writes>(writes: W): Promise<Outcome<W>> {
    const named = Object.entries(writes).flatMap(([name, one]) => (one ? [{ name, one }] : []));
    // One token over all attempts, the SDK's and ours: a lost answer never carries the writes out twice.
    const command = new TransactWriteCommand({
      TransactItems: named.map(({ one }) => transactItem(tableName, one)),
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
        // With a conflict the result is incomplete: only the next attempt shows which other conditions fail.
        const isComplete = reasons.every((reason) => reason.Code === "None" || isFailed(reason));
        if (reasons.some(isFailed) && (isComplete || attempt === attemptsMax - 1)) {
          return { ok: false, failed: failedOf(named, reasons) as Failed<W> };
        }
        if (reasons.some(({ Code }) => Code === "ValidationError")) throw error;
      }
    }
    throw new RetriesExhausted("The transaction kept conflicting with others");
  }

  return { write };
}

function failedOf(named: { name: string; one: Write }[], reasons: CancellationReason[]): Failed<Writes> {
  return Object.fromEntries(
    named.flatMap(({ name, one }, index) => {
      const reason = reasons[index];
      if (!reason || !isFailed(reason)) return [];
      return [[name, { old: reason.Item && one.read(unmarshall(reason.Item)) }]];
    }),
  );
}
