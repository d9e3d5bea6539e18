import { sql } from "kysely";
import * as z from "zod";
import type { Statement } from "../../aws/databases.ts";
import type { ChangeStatement } from "./change-statement.ts";
import type { Definition } from "./definition.ts";
import { innerNames } from "./inner-names.ts";
import { isAbsent, type Session } from "./session.ts";
import { compile } from "./sql.ts";

/** A change that applies to any version of the table. */
export const anyVersion = -1;

export interface Change {
  name: string;
  /** The version that the change starts from; 0 when the table must not exist. */
  version: number;
  /** The table after the change; null if it is deleted. */
  definition: Definition | null;
  statements: ChangeStatement[];
  /** Whether the change is only tried: it is run and rolled back. */
  dryRun?: boolean;
}

const outcome = z.object({ state: z.enum(["done", "exists", "changed", "missing"]) });
const refusal = z.object({
  state: z.literal("refused"),
  code: z.string(),
  statement: z.int(),
  row: z.int().nullable(),
});
const changeResult = z.discriminatedUnion("state", [outcome, refusal]);

/** A statement of a change that failed: its index, PostgreSQL's reason, and the conflicting row. */
export type Refused = z.infer<typeof refusal>;
/** The result of a change. */
export type ChangeResult = z.infer<typeof changeResult>;

const answer = z.tuple([z.object({ result: z.string() })]);

function changeCall(schema: string, change: Change): Statement {
  const statements = change.statements.map(({ path: _, ...statement }) => statement);
  const definition = change.definition === null ? null : JSON.stringify(change.definition);
  const call = sql`${sql.id(schema, innerNames.change)}(${change.name}, ${sql.lit(change.version)}, ${definition},
    ${JSON.stringify(statements)}, ${sql.lit(change.dryRun ?? false)}, ${sql.raw(":until")})`;
  return { ...compile(sql`select ${call} as result`), bounded: true };
}

/** Changes the catalog and the table together, in one statement. A new table prepares the database on its first use. */
export async function changeTable(session: Session, change: Change): Promise<ChangeResult> {
  const statement = changeCall(session.schema, change);
  const rows = await session.call(statement).catch(async (error) => {
    if (!isAbsent(error, "schema")) throw error;
    if (change.version !== 0) return [{ result: '{"state":"missing"}' }];
    await session.prepare();
    return session.call(statement);
  });
  const [{ result }] = answer.parse(rows);
  return changeResult.parse(JSON.parse(result));
}
