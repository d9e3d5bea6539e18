import { setTimeout as sleep } from "node:timers/promises";
import {
  BeginTransactionCommand,
  CommitTransactionCommand,
  DatabaseErrorException,
  ExecuteStatementCommand,
  type Field,
  RDSDataClient,
  RollbackTransactionCommand,
  type SqlParameter,
} from "@aws-sdk/client-rds-data";
import { databaseName, statementSecondsMax } from "../../api/tables.ts";
import { clientDefaults, isNamed } from "./clients.ts";
import { DatabaseError, DatabaseResuming, DatabaseTimeout } from "./errors.ts";

/** A statement of the Data API: `:p1`, `:p2`, … are the parameters. */
export interface Statement {
  sql: string;
  values: (string | null)[];
  /** Whether the statement contains `:until`, the time in milliseconds after which it must not commit. */
  bounded?: boolean;
}

/** A text or an integer: statements cast everything else. */
export type Value = string | number | null;
/** A row of a result: its values by the names of their columns. */
export type ResultRow = Record<string, Value>;

export interface DatabaseRunner {
  /** How long a request may take, from its start; this includes the wait for a paused database. */
  readonly requestMs: number;
  /** Runs one statement, by itself; throws `DatabaseError` when PostgreSQL refuses it. `until` ends the request. */
  run(statement: Statement, until: number): Promise<ResultRow[]>;
  /** Runs statements in one transaction: all of them or none. */
  runAll(statements: readonly Statement[], until: number): Promise<void>;
}

function plainValue(field: Field): Value {
  return field.stringValue ?? field.longValue ?? null;
}

function translated(error: unknown): unknown {
  if (isNamed(error, "AbortError")) return new DatabaseTimeout();
  if (!(error instanceof DatabaseErrorException || isNamed(error, "BadRequestException"))) return error;
  const message = error instanceof Error ? error.message : "";
  const state = /SQLState: ([0-9A-Z]{5})/.exec(message)?.[1];
  if (state === undefined) return error;
  return new DatabaseError(state, /constraint "([^"]+)"/.exec(message)?.[1] ?? null);
}

const retryAfterSeconds = 10;
const statementMs = statementSecondsMax * 1000;
/** The additional wait beyond a statement's own time limit, so that a statement has ended in the database when the wait here ends. */
const answerMs = 2_000;

/** Runs statements through the Data API, and waits `DATABASE_WAIT_SECONDS` for a paused cluster to come back. */
export function databaseRunner(environment: {
  DATABASE_ARN: string;
  DATABASE_SECRET_ARN: string;
  DATABASE_WAIT_SECONDS: string;
}): DatabaseRunner {
  // One attempt: the SDK would repeat an insert whose answer got lost.
  const client = new RDSDataClient({
    ...clientDefaults({ requestTimeout: statementMs + answerMs }),
    maxAttempts: 1,
  });
  const target = { resourceArn: environment.DATABASE_ARN, secretArn: environment.DATABASE_SECRET_ARN };

  /** Repeats a call while the database resumes. Each attempt has a time limit. */
  async function attempts<T>(
    until: number,
    call: (statementUntil: number, options: { abortSignal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      try {
        const statementUntil = Math.min(until, Date.now() + statementMs);
        const leftMs = Math.max(statementUntil + answerMs - Date.now(), 1);
        return await call(statementUntil, { abortSignal: AbortSignal.timeout(leftMs) });
      } catch (error) {
        if (!isNamed(error, "DatabaseResumingException")) throw translated(error);
        if (Date.now() + pauseMs > until) throw new DatabaseResuming(retryAfterSeconds);
        await sleep(pauseMs);
      }
    }
  }

  async function execute(statement: Statement, until: number, transactionId?: string): Promise<ResultRow[]> {
    const { sql, values, bounded } = statement;
    const parameters: SqlParameter[] = values.map((value, index) => ({
      name: `p${index + 1}`,
      value: value === null ? { isNull: true as const } : { stringValue: value },
    }));
    const output = await attempts(until, (statementUntil, options) => {
      const limit: SqlParameter[] = bounded ? [{ name: "until", value: { longValue: statementUntil } }] : [];
      const input = { ...target, database: databaseName, sql, parameters: [...parameters, ...limit] };
      const how = { includeResultMetadata: true, ...(transactionId && { transactionId }) };
      return client.send(new ExecuteStatementCommand({ ...input, ...how }), options);
    });
    const names = (output.columnMetadata ?? []).map((column) => column.label ?? column.name ?? "");
    return (output.records ?? []).map((record) =>
      Object.fromEntries(record.map((field, index) => [names[index] ?? "", plainValue(field)])),
    );
  }

  async function runAll(statements: readonly Statement[], until: number): Promise<void> {
    const { transactionId } = await attempts(until, (_, options) =>
      client.send(new BeginTransactionCommand({ ...target, database: databaseName }), options),
    );
    if (transactionId === undefined) throw new Error("The Data API gave no transaction");
    try {
      for (const statement of statements) await execute(statement, until, transactionId);
      await client.send(new CommitTransactionCommand({ ...target, transactionId }));
    } catch (error) {
      await client.send(new RollbackTransactionCommand({ ...target, transactionId })).catch(() => undefined);
      throw translated(error);
    }
  }

  return {
    requestMs: Number(environment.DATABASE_WAIT_SECONDS) * 1000,
    run: (statement, until) => execute(statement, until),
    runAll,
  };
}
