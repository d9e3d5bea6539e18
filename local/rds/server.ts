import { AwsError, jsonError, parseJson, type RawService } from "../aws/service.ts";
import { rdsDataOperations } from "./operations.ts";
import { createEngine } from "./store.ts";
import { templateIn } from "./template.ts";
import { patience as awsPatience, createTransactions, type Patience } from "./transactions.ts";

const requestBytesMax = 4 * 1024 * 1024;
/** Well below the time-out of a client's call, so that a slow start is answered as a start and not as a fault. */
const startWaitMsDefault = 15_000;

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
