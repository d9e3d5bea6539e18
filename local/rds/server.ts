import { AwsError, jsonError, parseJson, type RawService } from "../aws/service.ts";
import { rdsDataOperations } from "./operations.ts";
import { createEngine } from "./store.ts";
import { templateIn } from "./template.ts";
import { awsTimeouts, createTransactions, type Timeouts } from "./transactions.ts";

const requestBytesMax = 4 * 1024 * 1024;
/**
 * How long a call waits for PostgreSQL to start, in milliseconds. Then it is answered with DatabaseResumingException, and the client
 * repeats it with its whole time-out. A longer wait would leave too little of that for a first statement on a slow machine.
 */
export const startWaitMsDefault = 2_000;

export interface RdsData {
  service: RawService;
  /** Optional: creates the database's folder in advance, so that the first statement does not wait for it. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

export interface RdsDataOptions {
  dir: string;
  /** Caches a fresh data folder, so that only the first use on a machine waits for its creation. */
  cacheDir?: string;
  timeouts?: Timeouts;
  startWaitMs?: number;
}

/**
 * The RDS Data API on one PostgreSQL in `dir`, which starts with the first statement. It has one connection: during a
 * transaction, other statements wait, at most for the statement time-out of AWS.
 */
export function createRdsData(options: RdsDataOptions): RdsData {
  const { dir, cacheDir, timeouts = awsTimeouts, startWaitMs = startWaitMsDefault } = options;
  const template = cacheDir === undefined ? undefined : templateIn(cacheDir);
  const engine = createEngine({ dir, template, statementMs: timeouts.statementMs, startWaitMs });
  const transactions = createTransactions(engine, timeouts);

  const operations = rdsDataOperations(engine, transactions);

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
