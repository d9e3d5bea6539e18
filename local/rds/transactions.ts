import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsError } from "../aws/service.ts";
import { createMutex } from "./mutex.ts";
import type { Engine } from "./store.ts";

/** AWS: a transaction whose id is not used for 3 minutes is rolled back; a call ends after 45 seconds. */
export interface Patience {
  idleMs: number;
  statementMs: number;
}
export const patience: Patience = { idleMs: 180_000, statementMs: 45_000 };

interface Open {
  leave(): void;
  timer: NodeJS.Timeout;
  /** The calls of one transaction run one after the other, in the order they came. */
  tail: Promise<unknown>;
}

/** What is still open when the service stops is lost either way, so a long statement is not waited for. */
const closeMsMax = 1_000;

export interface Transactions {
  begin(): Promise<string>;
  /** Commits; an aborted transaction is rolled back and refused, as the driver on AWS does. */
  commit(id: string): Promise<void>;
  rollback(id: string): Promise<void>;
  /** Runs work in the transaction of this id, or by itself. */
  within<T>(id: string | undefined, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

function notFound(id: string): AwsError {
  return new AwsError("TransactionNotFoundException", `Transaction ${id} is not found`, 404);
}

/** One connection for all: a transaction holds it until it ends, everyone else waits their turn. */
export function createTransactions(engine: Engine, { idleMs, statementMs }: Patience): Transactions {
  const connection = createMutex();
  const open = new Map<string, Open>();

  async function enter(): Promise<() => void> {
    // Before the turn is taken: while PostgreSQL starts, each caller is answered after its own wait, not after all others'.
    await engine.started();
    const leave = await connection.acquire(statementMs);
    if (leave) return leave;
    throw new AwsError("StatementTimeoutException", "The statement has waited too long for another transaction", 400, {
      dbConnectionId: 0,
    });
  }

  function touch(id: string, transaction: Open): void {
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
      transaction.leave();
    }
  }

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    const leave = await enter();
    try {
      return await work();
    } finally {
      if (engine.inTransaction()) await engine.run("ROLLBACK").catch(() => undefined);
      leave();
    }
  }

  function inside<T>(id: string, work: () => Promise<T>): Promise<T> {
    const transaction = open.get(id);
    if (!transaction) return Promise.reject(notFound(id));
    clearTimeout(transaction.timer);
    const turn = transaction.tail.then(() => {
      // The database has started anew since: its transaction is lost, and no statement may run outside it.
      if (!engine.inTransaction()) throw notFound(id);
      return work();
    });
    transaction.tail = turn.then(
      () => touchIfOpen(id, transaction),
      () => touchIfOpen(id, transaction),
    );
    return turn;
  }

  function touchIfOpen(id: string, transaction: Open): void {
    if (open.has(id)) touch(id, transaction);
  }

  return {
    async begin() {
      const leave = await enter();
      try {
        await engine.run("BEGIN");
      } catch (error) {
        leave();
        throw error;
      }
      const id = randomUUID();
      const transaction: Open = { leave, timer: setTimeout(() => undefined, 0), tail: Promise.resolve() };
      open.set(id, transaction);
      touch(id, transaction);
      return id;
    },
    commit: (id) => end(id, "COMMIT"),
    rollback: (id) => end(id, "ROLLBACK"),
    within: (id, work) => (id === undefined ? alone(work) : inside(id, work)),
    async close() {
      const ended = Promise.allSettled([...open.keys()].map((id) => end(id, "ROLLBACK")));
      await Promise.race([ended, sleep(closeMsMax, undefined, { ref: false })]);
    },
  };
}
