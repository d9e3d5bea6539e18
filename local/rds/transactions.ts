import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsError } from "../aws/service.ts";
import { createMutex } from "./mutex.ts";
import type { Engine } from "./store.ts";

/** Limits of AWS: a transaction is rolled back after 3 minutes without a call; a statement times out after 45 seconds. */
export interface Timeouts {
  idleMs: number;
  statementMs: number;
}
export const awsTimeouts: Timeouts = { idleMs: 180_000, statementMs: 45_000 };

interface Open {
  release(): void;
  timer: NodeJS.Timeout;
  /** Resolves after the last call of the transaction: its calls run one after the other. */
  tail: Promise<unknown>;
}

/** When the service stops, open transactions are lost in any case, so long statements are not awaited. */
const closeMsMax = 1_000;

export interface Transactions {
  begin(): Promise<string>;
  /** Commits; an aborted transaction is rolled back and throws, as on AWS. */
  commit(id: string): Promise<void>;
  rollback(id: string): Promise<void>;
  /** Runs `work` in the transaction with this id, or outside any transaction. */
  within<T>(id: string | undefined, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

function notFound(id: string): AwsError {
  return new AwsError("TransactionNotFoundException", `Transaction ${id} is not found`, 404);
}

/** All calls share one connection: a transaction keeps it until it ends, and other calls wait. */
export function createTransactions(engine: Engine, { idleMs, statementMs }: Timeouts): Transactions {
  const connection = createMutex();
  const open = new Map<string, Open>();

  async function acquire(): Promise<() => void> {
    // Awaited before the mutex, so that during a slow start each call fails after its own wait instead of after all others'.
    await engine.started();
    const release = await connection.acquire(statementMs);
    if (release) return release;
    throw new AwsError("StatementTimeoutException", "The statement timed out while another transaction was open", 400, {
      dbConnectionId: 0,
    });
  }

  function restartIdleTimer(id: string, transaction: Open): void {
    clearTimeout(transaction.timer);
    transaction.timer = setTimeout(() => end(id, "ROLLBACK").catch(() => undefined), idleMs);
    transaction.timer.unref();
  }

  async function end(id: string, command: "COMMIT" | "ROLLBACK"): Promise<void> {
    const transaction = open.get(id);
    if (!transaction) throw notFound(id);
    open.delete(id);
    clearTimeout(transaction.timer);
    await transaction.tail;
    try {
      if (!engine.inTransaction()) throw notFound(id);
      const outcome = await engine.run(command);
      if (outcome.command === command) return;
      throw new AwsError(
        "DatabaseErrorException",
        "ERROR: the transaction was aborted and is rolled back; SQLState: 25P02",
      );
    } finally {
      transaction.release();
    }
  }

  async function outsideTransaction<T>(work: () => Promise<T>): Promise<T> {
    const release = await acquire();
    try {
      return await work();
    } finally {
      if (engine.inTransaction()) await engine.run("ROLLBACK").catch(() => undefined);
      release();
    }
  }

  function insideTransaction<T>(id: string, work: () => Promise<T>): Promise<T> {
    const transaction = open.get(id);
    if (!transaction) return Promise.reject(notFound(id));
    clearTimeout(transaction.timer);
    const turn = transaction.tail.then(() => {
      // The database has restarted, so its transaction is lost and the statement must not run outside it.
      if (!engine.inTransaction()) throw notFound(id);
      return work();
    });
    transaction.tail = turn.then(
      () => restartIdleTimerIfOpen(id, transaction),
      () => restartIdleTimerIfOpen(id, transaction),
    );
    return turn;
  }

  function restartIdleTimerIfOpen(id: string, transaction: Open): void {
    if (open.has(id)) restartIdleTimer(id, transaction);
  }

  return {
    async begin() {
      const release = await acquire();
      try {
        await engine.run("BEGIN");
      } catch (error) {
        release();
        throw error;
      }
      const id = randomUUID();
      const transaction: Open = { release, timer: setTimeout(() => undefined, 0), tail: Promise.resolve() };
      open.set(id, transaction);
      restartIdleTimer(id, transaction);
      return id;
    },
    commit: (id) => end(id, "COMMIT"),
    rollback: (id) => end(id, "ROLLBACK"),
    within: (id, work) => (id === undefined ? outsideTransaction(work) : insideTransaction(id, work)),
    async close() {
      const ended = Promise.allSettled([...open.keys()].map((id) => end(id, "ROLLBACK")));
      await Promise.race([ended, sleep(closeMsMax, undefined, { ref: false })]);
    },
  };
}
