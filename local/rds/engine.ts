import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { AwsError } from "../aws/service.ts";

export interface Outcome {
  columns: { name: string; type: number }[];
  /** Values in PostgreSQL's own text form. */
  rows: (string | null)[][];
  command: string;
  affected: number;
}

export interface Bound {
  type: number;
  text: string | null;
}

export interface Complaint {
  message: string;
  code: string;
  detail?: string | undefined;
  hint?: string | undefined;
  position?: string | undefined;
}

/** What the thread of PostgreSQL says to one statement. */
export type Answer = { id: number; inTransaction: boolean } & ({ outcome: Outcome } | { complaint: Complaint });

/** One PostgreSQL on one folder; it starts with its first statement, and again after it has crashed. */
export interface Engine {
  run(sql: string, bound?: Bound[]): Promise<Outcome>;
  inTransaction(): boolean;
  close(): Promise<void>;
}

/** PostgreSQL's complaint as the Data API words it; clients find the SQLSTATE at its end. */
function databaseError({ message, code, detail, hint, position }: Complaint): AwsError {
  const lines = [
    `ERROR: ${message}`,
    detail && `  Detail: ${detail}`,
    hint && `  Hint: ${hint}`,
    position && `  Position: ${position}`,
  ];
  return new AwsError("DatabaseErrorException", `${lines.filter(Boolean).join("\n")}; SQLState: ${code}`);
}

interface Waiting {
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** PostgreSQL runs in a thread of its own: WebAssembly does not yield, and the service has to go on serving. */
export function createEngine(dir: string, statementMs: number): Engine {
  const waiting = new Map<number, Waiting>();
  let starting: Promise<Worker> | undefined;
  let inTransaction = false;
  let closed = false;
  let lastId = 0;

  function settle(answer: Answer): void {
    inTransaction = answer.inTransaction;
    const statement = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("outcome" in answer) statement?.resolve(answer.outcome);
    else statement?.reject(databaseError(answer.complaint));
  }

  function ended(): void {
    starting = undefined;
    inTransaction = false;
    const error = new AwsError("InternalServerErrorException", "The database has stopped and starts again", 500);
    for (const statement of waiting.values()) statement.reject(error);
    waiting.clear();
  }

  async function start(): Promise<Worker> {
    mkdirSync(dir, { recursive: true });
    const worker = new Worker(new URL("./postgres-worker.ts", import.meta.url), { workerData: { dir }, execArgv: [] });
    await once(worker, "message");
    worker.on("message", settle);
    worker.once("error", ended);
    worker.once("exit", ended);
    return worker;
  }

  async function run(sql: string, bound: Bound[] = []): Promise<Outcome> {
    if (closed) throw new AwsError("ServiceUnavailableError", "The database is shutting down", 503);
    starting ??= start().catch((error) => {
      starting = undefined;
      throw new AwsError("InternalServerErrorException", `The database does not start: ${error}`, 500);
    });
    const worker = await starting;
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const timer = setTimeout(async () => {
      waiting.delete(id);
      await worker.terminate();
      reject(new AwsError("StatementTimeoutException", "The statement timed out", 400, { dbConnectionId: 0 }));
    }, statementMs);
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, sql, bound });
    return promise.finally(() => clearTimeout(timer));
  }

  async function close(): Promise<void> {
    closed = true;
    const worker = await starting?.catch(() => undefined);
    if (!worker) return;
    const exited = once(worker, "exit");
    worker.postMessage("close");
    await exited;
  }

  return { run, inTransaction: () => inTransaction, close };
}
