import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsError } from "../aws/service.ts";
import { type PostgresThread, type StartingThread, startPostgresThread } from "./postgres-thread.ts";
import { copyTemplate, keepTemplate } from "./template.ts";

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

/** The PostgreSQL thread's answer to one statement. */
export type Answer = { id: number; inTransaction: boolean } & ({ outcome: Outcome } | { complaint: Complaint });

/** One PostgreSQL on one folder; it starts with its first statement, and again after it has crashed. */
export interface Engine {
  /** Makes the folder when there is none, which takes seconds; PostgreSQL does not stay up for it. */
  make(): Promise<void>;
  /** Resolves when PostgreSQL runs; rejects with DatabaseResumingException when that takes long, while it goes on starting. */
  started(): Promise<void>;
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

/** How long a database may take to close by itself; committed rows are on disk either way. */
const closeMs = 2_500;
/** A start takes a second, or several for a new folder. A thread that needs longer than this hangs and is ended. */
const startMsMax = 300_000;

export interface EngineOptions {
  dir: string;
  /** A fresh data folder to copy instead of making one; written when it is not there yet. */
  template?: string | undefined;
  /** A statement that takes longer ends with the whole engine, which then starts again. */
  statementMs: number;
  /** A call that has waited this long for PostgreSQL to start is told to come back, as AWS does for a paused cluster. */
  startWaitMs: number;
}

const resuming = () =>
  new AwsError("DatabaseResumingException", "The database is starting. Please retry in a few seconds.", 400);

/** Starts PostgreSQL with the first statement, and again with the first one after it has ended. */
export function createEngine({ dir, template, statementMs, startWaitMs }: EngineOptions): Engine {
  const waiting = new Map<number, Waiting>();
  let starting: Promise<PostgresThread> | undefined;
  let making: Promise<void> | undefined;
  let current: StartingThread | undefined;
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

  async function thread(folder: string): Promise<PostgresThread> {
    if (closed) throw new Error("The database is shutting down");
    const started = startPostgresThread(folder);
    current = started;
    const timer = setTimeout(() => started.close(0), startMsMax);
    try {
      return await started.ready;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The folder is made beside its place and then renamed, so that a crash never leaves half of one. */
  async function make(): Promise<void> {
    const unfinished = `${dir}.new`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    if (template === undefined || !copyTemplate(template, unfinished)) {
      const maker = await thread(unfinished);
      await maker.close(closeMs);
      if (template !== undefined) keepTemplate(template, unfinished);
    }
    renameSync(unfinished, dir);
  }

  function made(): Promise<void> {
    making ??= (existsSync(dir) ? Promise.resolve() : make()).catch((error: unknown) => {
      making = undefined;
      throw error;
    });
    return making;
  }

  async function start(): Promise<PostgresThread> {
    await made();
    const started = await thread(dir);
    started.worker.on("message", settle);
    void started.ended.then(ended);
    return started;
  }

  /** The running PostgreSQL. A failed start is forgotten, so that the next statement tries again. */
  async function running(): Promise<PostgresThread> {
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw new AwsError("InternalServerErrorException", `The database does not start: ${error}`, 500);
    });
    const late = new AbortController();
    try {
      return await Promise.race([
        starting,
        sleep(startWaitMs, undefined, { signal: late.signal }).then(() => Promise.reject(resuming())),
      ]);
    } finally {
      late.abort();
    }
  }

  async function run(sql: string, bound: Bound[] = []): Promise<Outcome> {
    if (closed) throw new AwsError("ServiceUnavailableError", "The database is shutting down", 503);
    const { worker } = await running();
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
    await current?.close(closeMs);
  }

  return { make: made, started: async () => void (await running()), run, inTransaction: () => inTransaction, close };
}
