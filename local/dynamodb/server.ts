import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { errorFields, log } from "../../lambdas/http/log.ts";
import { unlistedPort } from "../ports.ts";
import { spawnProcessGroup } from "../process/process-group.ts";
import { StartRefused } from "../start-refused.ts";
import { createTable } from "./table.ts";

export interface DynamoDb {
  endpoint: string;
  close(): Promise<void>;
}

export interface DynamoDbOptions {
  file: string;
  tableName: string;
  /** Called once, with a message for the user, when the database has ended and cannot be started again. */
  onLost?(message: string): void;
}

const startSecondsMax = 8;
/** A database that dies this often within a minute is not started again. */
const deathsPerMinuteMax = 5;

/** The addresses that this process itself has set in its environment; the user did not configure them. */
const embedded = new Set<string>();

function binaryPath(): string {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    throw new Error(
      `There is no embedded DynamoDB for ${process.platform}-${process.arch}. Start DynamoDB Local or another compatible server and set AWS_ENDPOINT_URL_DYNAMODB to its address.`,
    );
  }
}

function clientOf(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
}

/** Waits for the server and returns its table names; rejects if the server ends or does not answer in time. */
async function untilServing(client: DynamoDBClient, hasEnded: () => boolean): Promise<string[]> {
  const deadline = Date.now() + startSecondsMax * 1000;
  for (;;) {
    try {
      return (await client.send(new ListTablesCommand({}))).TableNames ?? [];
    } catch (error) {
      if (hasEnded()) throw new Error("The embedded DynamoDB exited while it started", { cause: error });
      if (Date.now() > deadline) throw new Error("The embedded DynamoDB does not answer", { cause: error });
      await sleep(10);
    }
  }
}

async function prepare(endpoint: string, tableName: string, hasEnded: () => boolean): Promise<void> {
  const client = clientOf(endpoint);
  try {
    const tables = await untilServing(client, hasEnded);
    if (!tables.includes(tableName)) await createTable(client, tableName);
  } finally {
    client.destroy();
  }
}

/**
 * The embedded DynamoDB on a SQLite file. It ends with this process and is started again when it dies. It checks no
 * credentials, so its port changes with every start of the service and is written to no file.
 */
class EmbeddedDynamoDb {
  readonly endpoint: string;
  readonly #port: number;
  readonly #options: DynamoDbOptions;
  #child: ReturnType<typeof spawnProcessGroup> | undefined;
  #isClosing = false;
  #deaths: number[] = [];
  #lastOutput = "";

  constructor(port: number, options: DynamoDbOptions) {
    this.#port = port;
    this.#options = options;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    let hasEnded = false;
    let isServing = false;
    const { file, tableName } = this.#options;
    const child = spawnProcessGroup(
      binaryPath(),
      ["serve", "--host", "127.0.0.1", "--port", String(this.#port), "--db-path", file],
      {
        cwd: process.cwd(),
        env: {},
        onOutput: (_stream, chunk) => {
          this.#lastOutput = `${this.#lastOutput}${chunk.toString("utf8")}`.slice(-500);
        },
        onExit: () => {
          hasEnded = true;
          if (isServing) void this.#restart();
        },
      },
    );
    this.#child = child;
    try {
      await prepare(this.endpoint, tableName, () => hasEnded);
    } catch (error) {
      await child.stop(0);
      const output = this.#lastOutput.trim();
      throw new StartRefused(
        `The embedded DynamoDB could not open ${file}.${output && ` Its output: ${output}`} Replace the file with its last good copy, or move it away to start with an empty table.`,
        { cause: error },
      );
    }
    isServing = true;
    if (hasEnded) void this.#restart();
  }

  async #restart(): Promise<void> {
    if (this.#isClosing) return;
    const now = Date.now();
    this.#deaths = [...this.#deaths.filter((at) => at > now - 60_000), now];
    log("error", "The embedded DynamoDB exited and is restarted", { deaths: this.#deaths.length });
    try {
      if (this.#deaths.length > deathsPerMinuteMax)
        throw new Error(`It exited ${this.#deaths.length} times in a minute`);
      await this.start();
    } catch (error) {
      if (this.#isClosing) return;
      log("error", "The embedded DynamoDB could not be restarted", errorFields(error));
      this.#options.onLost?.(
        `The embedded DynamoDB exited and could not be restarted. Its data is in ${this.#options.file}.`,
      );
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#child?.stop(2_000);
  }
}

/** DynamoDB on this machine: the server of AWS_ENDPOINT_URL_DYNAMODB, or the embedded one. */
export async function startDynamoDb(options: DynamoDbOptions): Promise<DynamoDb> {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (given !== undefined && !embedded.has(given)) {
    await prepare(given, options.tableName, () => false);
    return { endpoint: given, close: async () => undefined };
  }
  const database = new EmbeddedDynamoDb(await unlistedPort("dynamodb"), options);
  embedded.add(database.endpoint);
  await database.start();
  return { endpoint: database.endpoint, close: () => database.close() };
}
