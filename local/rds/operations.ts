import * as z from "zod";
import { type Operation, operation } from "../aws/service.ts";
import { parameterSchema } from "./fields.ts";
import { runStatement, statementAnswer } from "./statements.ts";
import type { Engine } from "./store.ts";
import type { Transactions } from "./transactions.ts";

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

/** The RDS Data API calls that the service uses, by path. */
export function rdsDataOperations(engine: Engine, transactions: Transactions): Record<string, Operation> {
  return {
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
}
