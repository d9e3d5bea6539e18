import * as z from "zod";
import type { IdempotencyKey } from "../../http/idempotency.ts";
import { idempotencyMismatch } from "../../http/problem.ts";
import { recordQuery } from "./idempotency-statements.ts";
import { isAbsent, type Session } from "./session.ts";

const record = z.object({ body_hash: z.string(), row_id: z.int().nullable() });

/**
 * The earlier work of a request with this Idempotency-Key in this database: the id of its row, null for a table.
 * The response is stored elsewhere after the work; this record covers the time before that, or the loss of the response.
 * `undefined` if there is no record; throws 422 if the body differs. Prepares the database on its first use.
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
