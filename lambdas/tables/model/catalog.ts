import { randomUUID } from "node:crypto";
import * as z from "zod";
import type { DatabaseRunner, Statement, Value } from "../../aws/databases.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { notFound, unavailable } from "../../http/problem.ts";
import { type Definition, definitionSchema } from "./definition.ts";
import { catalogStatement, isFull } from "./result-chunks.ts";
import { setupStatements } from "./setup.ts";
import { compile } from "./sql.ts";
import { type Act, callStatement } from "./statements.ts";

/** A table with the version that a change to it must still find. */
export interface StoredTable {
  definition: Definition;
  version: number;
}

/** What became of a change; `refused` names the act that failed, PostgreSQL's reason and the row in the way. */
export type ChangeResult =
  | { state: "done" | "exists" | "changed" | "missing" }
  | { state: "refused"; code: string; act: number; row: number | null };

const changeResult = z.discriminatedUnion("state", [
  z.object({ state: z.enum(["done", "exists", "changed", "missing"]) }),
  z.object({ state: z.literal("refused"), code: z.string(), act: z.int(), row: z.int().nullable() }),
]);

const piece = z.tuple([z.int(), z.int(), z.string(), z.int(), z.string()]);

/** SQLSTATEs of a schema, table or function that is not there: a database that has not been used yet. */
const noSchema = "3F000";
const notThere = new Set([noSchema, "42P01", "42883"]);
const triesMax = 5;

/** Whether a statement failed because what it names is not in the database, such as what the first use makes. */
export function isNotThere(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && notThere.has(error.state);
}

/** A name inside the database that nothing has yet; the `$` keeps it apart from every name of a user's. */
export function newInnerName(): string {
  return `$${randomUUID()}`;
}

function assemble(pieces: z.infer<typeof piece>[]): StoredTable[] {
  const tables = new Map<number, { text: string; version: number }>();
  for (const [number, version, text] of pieces) {
    tables.set(number, { text: (tables.get(number)?.text ?? "") + text, version });
  }
  return [...tables.values()].map(({ text, version }) => ({
    definition: definitionSchema.parse(JSON.parse(text)),
    version,
  }));
}

async function readPieces(databases: DatabaseRunner, schema: string, name: string | null) {
  const pieces: z.infer<typeof piece>[] = [];
  for (let from = 0; ; ) {
    const rows = await databases.run(catalogStatement(schema, name, from));
    pieces.push(...rows.map((row) => piece.parse(row)));
    const reached = pieces.at(-1)?.[3] ?? 0;
    if (rows.length === 0 || !isFull(reached - from)) break;
    from = reached;
  }
  return new Set(pieces.map(([, , , , stamp]) => stamp)).size > 1 ? undefined : pieces;
}

/** The tables of a database, or the one of this name, oldest first, in one statement up to the size of an answer. */
export async function readTables(
  databases: DatabaseRunner,
  schema: string,
  name: string | null = null,
): Promise<StoredTable[]> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const pieces = await readPieces(databases, schema, name).catch((error) => {
      if (isNotThere(error)) return [];
      throw error;
    });
    if (pieces) return assemble(pieces);
  }
  throw unavailable(new Error("The catalog kept changing while it was read"));
}

/** The table of this name; throws 404. */
export async function readTable(databases: DatabaseRunner, schema: string, name: string): Promise<StoredTable> {
  const [table] = await readTables(databases, schema, name);
  if (!table) throw notFound();
  return table;
}

/** A statement on a table's rows; throws 404 when there is no such table. */
export async function runOnTable(databases: DatabaseRunner, statement: Statement): Promise<Value[][]> {
  return databases.run(statement).catch((error) => {
    throw isNotThere(error) ? notFound() : error;
  });
}

export interface Change {
  schema: string;
  name: string;
  /** The version that the change starts from; 0 when the table must not exist. */
  version: number;
  /** The table as it is afterwards; null when it is gone. */
  definition: Definition | null;
  acts: Act[];
  dryRun?: boolean;
}

/** Changes the catalog and the table together, in one statement, and readies the database on its first use. */
export async function changeTable(databases: DatabaseRunner, change: Change): Promise<ChangeResult> {
  const statement = compile(callStatement(change));
  const run = () => databases.run(statement);
  const rows = await run().catch(async (error) => {
    if (!isNotThere(error)) throw error;
    if (error.state === noSchema && change.version !== 0) throw notFound();
    await databases.runAll(setupStatements(change.schema));
    return run();
  });
  return changeResult.parse(JSON.parse(z.string().parse(rows[0]?.[0])));
}
