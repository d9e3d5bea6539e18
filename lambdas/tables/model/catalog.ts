import { randomUUID } from "node:crypto";
import * as z from "zod";
import { notFound } from "../../http/problem.ts";
import { type Definition, definitionSchema } from "./definition.ts";
import { catalogQuery, isFull } from "./result-chunks.ts";
import { retryUntil } from "./retry.ts";
import { isAbsent, type Session } from "./session.ts";

/** A table with its version; a change applies only if the version is unchanged. */
export interface StoredTable {
  definition: Definition;
  version: number;
}

const chunkRow = z.object({
  number: z.int(),
  version: z.int(),
  chunk: z.string(),
  total: z.int(),
  stamp: z.string(),
});
type ChunkRow = z.infer<typeof chunkRow>;

/** A new unique name inside the database; user names cannot contain its `$`. */
export function newInnerName(): string {
  return `$${randomUUID()}`;
}

function assemble(chunks: ChunkRow[]): StoredTable[] {
  const tables = new Map<number, { text: string; version: number }>();
  for (const { number, version, chunk } of chunks) {
    tables.set(number, { text: (tables.get(number)?.text ?? "") + chunk, version });
  }
  return [...tables.values()].map(({ text, version }) => ({
    definition: definitionSchema.parse(JSON.parse(text)),
    version,
  }));
}

/** All chunks of the catalog; `undefined` when it has changed between two statements. */
async function readChunks(session: Session, name: string | null): Promise<ChunkRow[] | undefined> {
  const chunks: ChunkRow[] = [];
  for (let from = 0; ; ) {
    const rows = await session.query(catalogQuery(session.schema, name, from));
    chunks.push(...rows.map((row) => chunkRow.parse(row)));
    const reached = chunks.at(-1)?.total ?? 0;
    if (!isFull(reached - from)) break;
    from = reached;
  }
  return new Set(chunks.map(({ stamp }) => stamp)).size > 1 ? undefined : chunks;
}

/** The tables of a database, or the one of this name, oldest first, in one statement up to the maximum size of a result. */
export async function readTables(session: Session, name: string | null = null): Promise<StoredTable[]> {
  const chunks = await retryUntil(session.until, () => readChunks(session, name)).catch((error) => {
    // A database that is deleted while it is read has its functions for a moment longer than its tables.
    if (isAbsent(error, "schema", "table")) return [];
    throw error;
  });
  return assemble(chunks);
}

/** The table of this name; throws 404. */
export async function readTable(session: Session, name: string): Promise<StoredTable> {
  const [table] = await readTables(session, name);
  if (!table) throw notFound();
  return table;
}
