import * as z from "zod";
import type { RowReply } from "../../../api/tables.ts";
import type { DatabaseRunner, Statement } from "../../aws/databases.ts";
import { DatabaseError } from "../../aws/errors.ts";
import { notFound, unavailable } from "../../http/problem.ts";
import { readTable, runOnTable } from "./catalog.ts";
import { rowProblem } from "./conflict.ts";
import type { Definition } from "./definition.ts";
import { claimConstraint } from "./idempotency-statements.ts";
import { getStatement, readRows } from "./rows.ts";

const piece = z.tuple([z.int(), z.string()]).transform(([id, text]) => ({ id, piece: text }));

/** The rows that a framed statement gives; throws 404 when there is no such table. */
export async function fetchRows(databases: DatabaseRunner, statement: Statement) {
  const pieces = await runOnTable(databases, statement);
  return readRows(pieces.map((values) => piece.parse(values)));
}

/** One row; throws 404. */
export async function fetchRow(
  databases: DatabaseRunner,
  schema: string,
  table: string,
  id: number,
): Promise<RowReply> {
  const { rows } = await fetchRows(databases, getStatement(schema, table, id));
  const [row] = rows;
  if (!row) throw notFound();
  return row;
}

/** SQLSTATEs that say that the table has changed since its definition was read. */
const outdated = /^(42703|42804|42846|22\w{3}|23502)$/;
const triesMax = 5;

/**
 * Writes a row by the table's present definition: when the table changes between the two, or a twin of the request has
 * claimed its Idempotency-Key, the row is judged anew.
 * Gives no row when none has the id.
 */
export async function writeRow(
  databases: DatabaseRunner,
  at: { schema: string; table: string },
  statementFor: (definition: Definition) => Promise<Statement> | Statement,
): Promise<RowReply | undefined> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { definition } = await readTable(databases, at.schema, at.table);
    const statement = await statementFor(definition);
    try {
      const { rows } = await fetchRows(databases, statement);
      return rows[0];
    } catch (error) {
      const columnOf = (constraint: string) => definition.columns.find((one) => one.constraint === constraint)?.name;
      const again =
        error instanceof DatabaseError && (outdated.test(error.state) || error.constraint === claimConstraint);
      if (!again) throw rowProblem(error, columnOf);
    }
  }
  throw unavailable(new Error("The table kept changing"));
}
