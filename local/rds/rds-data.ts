import * as z from "zod";
import { AwsError, jsonError, type Operation, operation, parseJson, type RawService } from "../aws/service.ts";
import { createEngine } from "./engine.ts";
import { parameterSchema } from "./fields.ts";
import { runStatement, statementAnswer } from "./statements.ts";
import { templateIn } from "./template.ts";
import { patience as awsPatience, createTransactions, type Patience } from "./transactions.ts";

const requestBytesMax = 4 * 1024 * 1024;
/** Well below the time-out of a client's call, so that a slow start is answered as a start and not as a fault. */
const startWaitMsDefault = 15_000;

const target = z.object({
  resourceArn: z.string().min(11).max(100),
  secretArn: z.string().min(11).max(100),
});
const place = target.extend({ database: z.string().max(64).optional(), schema: z.string().max(64).optional() });
const transactionId = z.string().max(192);
const sql = z.string().min(1).max(65_536);

const executeInput = place.extend({
  sql,
  parameters: z.array(parameterSchema).default([]),
  transactionId: transactionId.optional(),
  includeResultMetadata: z.boolean().default(false),
  continueAfterTimeout: z.boolean().optional(),
  formatRecordsAs: z.enum(["NONE", "JSON"]).default("NONE"),
  resultSetOptions: z
    .object({
      longReturnType: z.enum(["LONG", "STRING"]).default("LONG"),
      decimalReturnType: z.literal("STRING").optional(),
    })
    .default({ longReturnType: "LONG" }),
});
const batchInput = place.extend({
  sql,
  parameterSets: z.array(z.array(parameterSchema)).max(1000).default([[]]),
  transactionId: transactionId.optional(),
});
const endInput = target.extend({ transactionId });

export interface RdsData {
  service: RawService;
  /** Makes the database's folder ahead of its first statement, which then need not wait for it; optional. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

export interface RdsDataOptions {
  dir: string;
  /** Keeps a fresh data folder between homes, so that only the first home on a machine waits for one to be made. */
  cacheDir?: string;
  patience?: Patience;
  startWaitMs?: number;
}

/**
 * The RDS Data API over one PostgreSQL in `dir`, which starts with the first statement. It has one connection: a
 * transaction makes all others wait, at most as long as AWS lets a statement run.
 */
export function createRdsData(options: RdsDataOptions): RdsData {
  const { dir, cacheDir, patience = awsPatience, startWaitMs = startWaitMsDefault } = options;
  const template = cacheDir === undefined ? undefined : templateIn(cacheDir);
  const engine = createEngine({ dir, template, statementMs: patience.statementMs, startWaitMs });
  const transactions = createTransactions(engine, patience);

  const operations: Record<string, Operation> = {
    "/Execute": operation(executeInput, (input) =>
      transactions.within(input.transactionId, async () =>
        statementAnswer(await runStatement(engine, input.sql, input.parameters), {
          includeResultMetadata: input.includeResultMetadata,
          formatRecordsAs: input.formatRecordsAs,
          longReturnType: input.resultSetOptions.longReturnType,
        }),
      ),
    ),
    "/BatchExecute": operation(batchInput, (input) =>
      transactions.within(input.transactionId, async () => {
        for (const parameters of input.parameterSets) await runStatement(engine, input.sql, parameters);
        return { updateResults: input.parameterSets.map(() => ({ generatedFields: [] })) };
      }),
    ),
    "/BeginTransaction": operation(place, async () => ({ transactionId: await transactions.begin() })),
    "/CommitTransaction": operation(endInput, async (input) => {
      await transactions.commit(input.transactionId);
      return { transactionStatus: "Transaction Committed" };
    }),
    "/RollbackTransaction": operation(endInput, async (input) => {
      await transactions.rollback(input.transactionId);
      return { transactionStatus: "Rollback Complete" };
    }),
  };

  const service: RawService = async ({ method, path, body }) => {
    const run = method === "POST" ? operations[path] : undefined;
    if (!run) return undefined;
    try {
      if (body.length > requestBytesMax) throw new AwsError("BadRequestException", "The request is larger than 4 MiB");
      const output = await run(parseJson(body));
      return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(output) };
    } catch (error) {
      return jsonError(error);
    }
  };

  return {
    service,
    prepare: () => engine.make(),
    async close() {
      await transactions.close();
      await engine.close();
    },
  };
}
