import * as z from "zod";
import type { RowReply } from "../../../api/tables.ts";
import type { ResultRow } from "../../aws/databases.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { notFound } from "../../http/problem.ts";
import { readTable } from "./catalog.ts";
import { rowProblem } from "./conflict.ts";
import type { Definition } from "./definition.ts";
import { innerNames } from "./inner-names.ts";
import { retryUntil } from "./retry.ts";
import { getQuery, type RowPage, readRows } from "./rows.ts";
import { isAbsent, type Session } from "./session.ts";
import type { Query } from "./sql.ts";

const chunkRow = z.object({ id: z.int(), chunk: z.string() });

/** Runs a statement on a table's rows; throws 404 if the table does not exist. */
export async function queryTable(session: Session, query: Query): Promise<ResultRow[]> {
  return session.query(query).catch((error) => {
    throw isAbsent(error, "schema", "table") ? notFound() : error;
  });
}

/** The rows that a statement made by `rowsQuery` gives; throws 404 if the table does not exist. */
export async function fetchRows(session: Session, query: Query): Promise<RowPage> {
  const chunks = await queryTable(session, query);
  return readRows(chunks.map((row) => chunkRow.parse(row)));
}

/** One row; throws 404. */
export async function fetchRow(session: Session, table: string, id: number): Promise<RowReply> {
  const { rows } = await fetchRows(session, getQuery(session.schema, table, id));
  const [row] = rows;
  if (!row) throw notFound();
  return row;
}

/** SQLSTATEs that mean that the table has changed since its definition was read. */
const outdated = /^(42703|42804|42846|22\w{3}|23502)$/;

/**
 * Writes a row by the table's current definition. If the table changes in between, or a duplicate of the request has
 * recorded its Idempotency-Key, the row is validated again. Returns no row if none has the id.
 */
export async function writeRow(
  session: Session,
  table: string,
  queryFor: (definition: Definition) => Promise<Query> | Query,
): Promise<RowReply | undefined> {
  const seen = new Set<number>();
  const written = await retryUntil(session.until, async () => {
    const { definition, version } = await readTable(session, table);
    const query = await queryFor(definition);
    try {
      return await fetchRows(session, query);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.constraint === innerNames.idempotencyConstraint) return undefined;
      if (outdated.test(error.state) && !seen.has(version)) {
        seen.add(version);
        return undefined;
      }
      throw rowProblem(error, (constraint) => definition.columns.find((one) => one.constraint === constraint)?.name);
    }
  });
  return written.rows[0];
}
