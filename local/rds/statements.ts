import { AwsError } from "../aws/service.ts";
import { boundValue, type Parameter, plainValue, resultField, typeName } from "./fields.ts";
import { positional } from "./named-parameters.ts";
import type { Bound, Engine, Outcome } from "./store.ts";

/** Limits of AWS: 1 MiB for a response, 64 KiB for a row. */
const answerBytesMax = 1024 * 1024;
const rowBytesMax = 64 * 1024;

const transactionControl =
  /^\s*(begin|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

function bind(names: string[], parameters: Parameter[]): Bound[] {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  return names.map((name) => {
    const parameter = byName.get(name);
    if (!parameter) throw new AwsError("BadRequestException", `Cannot find parameter: ${name}`);
    return boundValue(parameter);
  });
}

/** Runs one statement with its parameters. */
export async function runStatement(engine: Engine, statement: string, parameters: Parameter[]): Promise<Outcome> {
  if (transactionControl.test(statement)) {
    const message = "Use BeginTransaction, CommitTransaction and RollbackTransaction instead of SQL commands";
    throw new AwsError("BadRequestException", message);
  }
  const { sql, names } = positional(statement);
  try {
    return await engine.run(sql, bind(names, parameters));
  } catch (error) {
    if (error instanceof AwsError && error.message.includes("cannot insert multiple commands")) {
      throw new AwsError("ValidationException", "Multistatements aren't supported");
    }
    throw error;
  }
}

export interface AnswerOptions {
  includeResultMetadata: boolean;
  formatRecordsAs: "NONE" | "JSON";
  longReturnType: "LONG" | "STRING";
}

function checkSizes(rows: Outcome["rows"]): void {
  let total = 0;
  for (const row of rows) {
    const bytes = row.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
    if (bytes > rowBytesMax)
      throw new AwsError("UnsupportedResultException", "A row of the result is larger than 64 KB");
    total += bytes;
  }
  if (total > answerBytesMax) throw tooLarge();
}

function tooLarge(): AwsError {
  return new AwsError("UnsupportedResultException", "Database returned more than the allowed response size limit");
}

/** A result as ExecuteStatement returns it. */
export function statementAnswer(outcome: Outcome, options: AnswerOptions): object {
  const { columns, rows } = outcome;
  const changed = /^(INSERT|UPDATE|DELETE|MERGE)$/.test(outcome.command) && columns.length === 0;
  const head = { numberOfRecordsUpdated: changed ? outcome.affected : 0, generatedFields: [] };
  if (columns.length === 0) return head;
  checkSizes(rows);
  const metadata = columns.map(({ name, type }) => ({
    name,
    label: name,
    typeName: typeName(type),
    isSigned: true,
    nullable: 2,
  }));
  const asString = options.longReturnType === "STRING";
  const records =
    options.formatRecordsAs === "JSON"
      ? { formattedRecords: JSON.stringify(rows.map((row) => namedValues(columns, row))) }
      : {
          records: rows.map((row) => row.map((text, index) => resultField(columns[index]?.type ?? 0, text, asString))),
        };
  const answer = { ...head, ...records, ...(options.includeResultMetadata && { columnMetadata: metadata }) };
  if (Buffer.byteLength(JSON.stringify(answer)) > answerBytesMax) throw tooLarge();
  return answer;
}

function namedValues(columns: Outcome["columns"], row: (string | null)[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ name, type }, index) => [name, plainValue(type, row[index] ?? null)]));
}
