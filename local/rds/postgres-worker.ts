import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import * as z from "zod";
import { oid } from "./fields.ts";
import type { Answer } from "./store.ts";

const asText = (text: string) => text;
const parsers = Object.fromEntries(Object.values(oid).map((id) => [id, asText]));
const serializers = Object.fromEntries([0, ...Object.values(oid)].map((id) => [id, asText]));

const task = z.object({
  id: z.int(),
  sql: z.string(),
  bound: z.array(z.object({ type: z.int(), text: z.string().nullable() })),
});
const postgresError = z.object({
  message: z.string(),
  code: z.string().regex(/^[0-9A-Z]{5}$/),
  detail: z.string().optional(),
  hint: z.string().optional(),
  position: z.string().optional(),
});

/** At each start, PGlite fills all shared memory with zeros. PostgreSQL's default of 128 MB takes half the processor time of a start. */
const fewBuffers = ["-c", "shared_buffers=16MB"];

const port = parentPort;
if (!port) throw new Error("PostgreSQL runs in a thread");
const [sent] = await once(port, "message");
const { code } = z.object({ code: z.custom<WebAssembly.Module>().optional() }).parse(sent);
const { dir } = z.object({ dir: z.string() }).parse(workerData);
const database = await PGlite.create(dir, {
  parsers,
  serializers,
  startParams: [...PGlite.defaultStartParams, ...fewBuffers],
  ...(code && { pgliteWasmModule: code }),
});
await database.query("SET TIME ZONE 'UTC'");

async function run({ id, sql, bound }: z.infer<typeof task>): Promise<Answer> {
  try {
    const texts = bound.map((value) => value.text);
    const types = bound.map((value) => value.type);
    const result = await database.query<(string | null)[]>(sql, texts, { rowMode: "array", paramTypes: types });
    const columns = result.fields.map((field) => ({ name: field.name, type: field.dataTypeID }));
    const outcome = { columns, rows: result.rows, command: result.command ?? "", affected: result.affectedRows ?? 0 };
    return { id, outcome, inTransaction: database.isInTransaction() };
  } catch (error) {
    const known = postgresError.safeParse(error);
    // Any other error than PostgreSQL's own means that the WebAssembly has crashed, so the thread ends.
    if (!known.success) throw error;
    return { id, postgresError: known.data, inTransaction: database.isInTransaction() };
  }
}

port.on("message", async (message: unknown) => {
  if (message === "close") {
    await database.close();
    process.exit(0);
  }
  port.postMessage(await run(task.parse(message)));
});
port.postMessage("ready");
