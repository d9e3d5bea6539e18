import { once } from "node:events";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
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
  /** Makes the folder when there is none, which takes seconds; PostgreSQL does not stay up for it. */
  make(): Promise<void>;
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

/** How long a database may take to close by itself; what was committed is safe either way. */
const closeMs = 2_500;

/** Making a database takes seconds: it is made beside its folder, so that a crash never leaves half of one in it. */
async function make(dir: string, thread: (folder: string) => Promise<Worker>): Promise<void> {
  const unfinished = `${dir}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const maker = await thread(unfinished);
  const exited = once(maker, "exit");
  maker.postMessage("close");
  await exited;
  renameSync(unfinished, dir);
}

/** PostgreSQL runs in a thread of its own: WebAssembly does not yield, and the service has to go on serving. */
export function createEngine(dir: string, statementMs: number): Engine {
  const waiting = new Map<number, Waiting>();
  let starting: Promise<Worker> | undefined;
  let making: Promise<void> | undefined;
  let current: Worker | undefined;
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

  async function thread(folder: string): Promise<Worker> {
    if (closed) throw new Error("The database is shutting down");
    const workerData = { dir: folder };
    const worker = new Worker(new URL("./postgres-worker.ts", import.meta.url), { workerData, execArgv: [] });
    current = worker;
    let reason: unknown;
    worker.on("error", (error) => {
      reason = error;
    });
    const exited = once(worker, "exit").then(() => {
      if (current === worker) current = undefined;
      throw new Error("PostgreSQL ended while it started", { cause: reason });
    });
    exited.catch(() => undefined);
    await Promise.race([once(worker, "message"), exited]);
    return worker;
  }

  function made(): Promise<void> {
    making ??= existsSync(dir) ? Promise.resolve() : make(dir, thread);
    making.catch(() => {
      making = undefined;
    });
    return making;
  }

  async function start(): Promise<Worker> {
    await made();
    const worker = await thread(dir);
    worker.on("message", settle);
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
    const worker = current;
    if (!worker) return;
    const exited = once(worker, "exit");
    worker.postMessage("close");
    const timer = setTimeout(() => worker.terminate(), closeMs);
    await exited.catch(() => undefined);
    clearTimeout(timer);
  }

  return { make: made, run, inTransaction: () => inTransaction, close };
}
