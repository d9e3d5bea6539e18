import * as z from "zod";
import type { IdempotencyKey } from "../../http/idempotency.ts";
import { idempotencyMismatch } from "../../http/problem.ts";
import { recordQuery } from "./idempotency-statements.ts";
import { isAbsent, type Session } from "./session.ts";

const record = z.object({ body_hash: z.string(), row_id: z.int().nullable() });

/**
 * What a request with this Idempotency-Key has done before in this database: the id of its row, null for a table.
 * The answer itself is remembered elsewhere, after the work; this tells when that has been lost, or is not there yet.
 * `undefined` when there is nothing; throws 422 when the body was another one. Prepares the database on its first use.
 */
export async function earlierWork(
  session: Session,
  key: IdempotencyKey,
): Promise<{ rowId: number | null } | undefined> {
  const [found] = await session.query(recordQuery(session.schema, key.hash)).catch(async (error) => {
    if (!isAbsent(error, "schema", "table")) throw error;
    await session.prepare();
    return [];
  });
  if (!found) return undefined;
  const { body_hash: bodyHash, row_id: rowId } = record.parse(found);
  if (bodyHash !== key.bodyHash) throw idempotencyMismatch();
  return { rowId };
}
