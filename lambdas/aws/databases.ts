import { setTimeout as sleep } from "node:timers/promises";
import {
  BeginTransactionCommand,
  CommitTransactionCommand,
  DatabaseErrorException,
  ExecuteStatementCommand,
  type Field,
  RDSDataClient,
  RollbackTransactionCommand,
} from "@aws-sdk/client-rds-data";
import { databaseName } from "../../api/tables.ts";
import { clientDefaults, isNamed } from "./clients.ts";
import { DatabaseError, DatabaseResuming } from "./errors.ts";

/** A statement of the Data API: `:p1`, `:p2`, … stand for the values. */
export interface Statement {
  sql: string;
  values: (string | null)[];
}

export type Value = string | number | boolean | null;

export interface DatabaseRunner {
  /** Runs one statement, by itself; throws `DatabaseError` when PostgreSQL refuses it. */
  run(statement: Statement): Promise<Value[][]>;
  /** Runs statements in one transaction: all of them or none. */
  runAll(statements: readonly Statement[]): Promise<void>;
}

function plainValue(field: Field): Value {
  return field.stringValue ?? field.longValue ?? field.doubleValue ?? field.booleanValue ?? null;
}

function translated(error: unknown): unknown {
  if (!(error instanceof DatabaseErrorException || isNamed(error, "BadRequestException"))) return error;
  const message = error instanceof Error ? error.message : "";
  const state = /SQLState: ([0-9A-Z]{5})/.exec(message)?.[1];
  if (state === undefined) return error;
  return new DatabaseError(state, /constraint "([^"]+)"/.exec(message)?.[1] ?? null);
}

const retryAfterSeconds = 10;

/** Runs statements through the Data API, and waits `DATABASE_WAIT_SECONDS` for a paused cluster to come back. */
export function databaseRunner(environment: {
  DATABASE_ARN: string;
  DATABASE_SECRET_ARN: string;
  DATABASE_WAIT_SECONDS: string;
}): DatabaseRunner {
  const waitMs = Number(environment.DATABASE_WAIT_SECONDS) * 1000;
  // One attempt: the SDK would repeat an insert whose answer got lost.
  const client = new RDSDataClient({
    ...clientDefaults,
    maxAttempts: 1,
    requestHandler: { ...clientDefaults.requestHandler, requestTimeout: 25_000 },
  });
  const target = { resourceArn: environment.DATABASE_ARN, secretArn: environment.DATABASE_SECRET_ARN };

  async function patiently<T>(call: () => Promise<T>): Promise<T> {
    const until = Date.now() + waitMs;
    for (let pauseMs = 250; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      try {
        return await call();
      } catch (error) {
        if (!isNamed(error, "DatabaseResumingException")) throw translated(error);
        if (Date.now() + pauseMs > until) {
          throw new DatabaseResuming(retryAfterSeconds);
        }
        await sleep(pauseMs);
      }
    }
  }

  async function execute({ sql, values }: Statement, transactionId?: string): Promise<Value[][]> {
    const parameters = values.map((value, index) => ({
      name: `p${index + 1}`,
      value: value === null ? { isNull: true as const } : { stringValue: value },
    }));
    const input = { ...target, database: databaseName, sql, parameters, ...(transactionId && { transactionId }) };
    const output = await patiently(() => client.send(new ExecuteStatementCommand(input)));
    return (output.records ?? []).map((record) => record.map(plainValue));
  }

  async function runAll(statements: readonly Statement[]): Promise<void> {
    const { transactionId } = await patiently(() =>
      client.send(new BeginTransactionCommand({ ...target, database: databaseName })),
    );
    if (transactionId === undefined) throw new Error("The Data API gave no transaction");
    try {
      for (const statement of statements) await execute(statement, transactionId);
      await client.send(new CommitTransactionCommand({ ...target, transactionId }));
    } catch (error) {
      await client.send(new RollbackTransactionCommand({ ...target, transactionId })).catch(() => undefined);
      throw translated(error);
    }
  }

  return { run: (statement) => execute(statement), runAll };
}
