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

export interface PostgresErrorFields {
  message: string;
  code: string;
  detail?: string | undefined;
  hint?: string | undefined;
  position?: string | undefined;
}

/** The PostgreSQL thread's answer to one statement. */
export type Answer = { id: number; inTransaction: boolean } & (
  | { outcome: Outcome }
  | { postgresError: PostgresErrorFields }
);

/** One PostgreSQL on one folder; it starts with the first statement and restarts after a crash. */
export interface Engine {
  /** Creates the data folder if needed, which takes seconds; does not leave PostgreSQL running. */
  make(): Promise<void>;
  /** Resolves when PostgreSQL runs; rejects with DatabaseResumingException if that takes too long (the start continues). */
  started(): Promise<void>;
  run(sql: string, bound?: Bound[]): Promise<Outcome>;
  inTransaction(): boolean;
  close(): Promise<void>;
}

/** An error of PostgreSQL in the format of the Data API; the SQLSTATE is at the end. */
function databaseError({ message, code, detail, hint, position }: PostgresErrorFields): AwsError {
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

/** The time that PostgreSQL gets for a clean shutdown; committed rows are on disk in any case. */
const closeMs = 2_500;
/** A start takes a second, or several seconds for a new folder. A thread that needs longer than this is ended. */
const startMsMax = 300_000;

export interface EngineOptions {
  dir: string;
  /** A cached fresh data folder to copy; created if it does not exist. */
  template?: string | undefined;
  /** A statement that takes longer fails; PostgreSQL is ended and restarts with the next statement. */
  statementMs: number;
  /** A call that waits longer for the start fails with DatabaseResumingException, as on AWS for a paused cluster. */
  startWaitMs: number;
}

const resuming = () =>
  new AwsError("DatabaseResumingException", "The database is starting. Please retry in a few seconds.", 400);

/** Starts PostgreSQL with the first statement, and again with the first statement after it has ended. */
export function createEngine({ dir, template, statementMs, startWaitMs }: EngineOptions): Engine {
  const waiting = new Map<number, Waiting>();
  let starting: Promise<PostgresThread> | undefined;
  let started: PostgresThread | undefined;
  let making: Promise<void> | undefined;
  let current: StartingThread | undefined;
  let inTransaction = false;
  let closed = false;
  let lastId = 0;

  function onAnswer(answer: Answer): void {
    inTransaction = answer.inTransaction;
    const statement = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("outcome" in answer) statement?.resolve(answer.outcome);
    else statement?.reject(databaseError(answer.postgresError));
  }

  function ended(): void {
    starting = undefined;
    started = undefined;
    inTransaction = false;
    const error = new AwsError("InternalServerErrorException", "The database has stopped and will restart", 500);
    for (const statement of waiting.values()) statement.reject(error);
    waiting.clear();
  }

  async function thread(folder: string): Promise<PostgresThread> {
    if (closed) throw new Error("The database is shutting down");
    const thread = startPostgresThread(folder);
    current = thread;
    const timer = setTimeout(() => thread.close(0), startMsMax);
    try {
      return await thread.ready;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Creates the folder under another name and then renames it, so that a crash leaves no incomplete folder. */
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
    started = await thread(dir);
    started.worker.on("message", onAnswer);
    void started.ended.then(ended);
    return started;
  }

  /** The running PostgreSQL. After a failed start, the next statement tries again. */
  async function running(): Promise<PostgresThread> {
    if (started) return started;
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw new AwsError("InternalServerErrorException", `The database could not be started: ${error}`, 500);
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
