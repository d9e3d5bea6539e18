import * as z from "zod";
import type { DatabaseRunner } from "../../aws/databases.ts";
import type { Once } from "../../http/access.ts";
import { idempotencyMismatch } from "../../http/problem.ts";
import { isNotThere } from "./catalog.ts";
import { claimStatement } from "./idempotency-statements.ts";
import { setupStatements } from "./setup.ts";

const claimed = z.tuple([z.string(), z.int().nullable()]);

/**
 * What a request with this Idempotency-Key has done before in this database: the id of its row, null for a table.
 * The answer itself is remembered elsewhere, after the work; this tells when that has been lost, or is not there yet.
 * `undefined` when there is nothing; throws 422 when the body was another one. Readies the database on its first use.
 */
export async function earlierWork(
  databases: DatabaseRunner,
  schema: string,
  once: Once,
): Promise<{ rowId: number | null } | undefined> {
  const [found] = await databases.run(claimStatement(schema, once.hash)).catch(async (error) => {
    if (!isNotThere(error)) throw error;
    await databases.runAll(setupStatements(schema));
    return [];
  });
  if (!found) return undefined;
  const [bodyHash, rowId] = claimed.parse(found);
  if (bodyHash !== once.bodyHash) throw idempotencyMismatch();
  return { rowId };
}
