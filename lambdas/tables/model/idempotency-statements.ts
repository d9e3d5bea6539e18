import { sql } from "kysely";
import { limits } from "../../../api/limits.ts";
import type { Statement } from "../../aws/databases.ts";
import { compile, type Sql } from "./sql.ts";
import { type Act, act, claimTable } from "./statements.ts";

/** What an Idempotency-Key claims, written in one statement with the work: neither is ever there without the other. */
export interface NewClaim {
  hash: string;
  bodyHash: string;
}

/** The constraint that refuses a second claim. */
export const claimConstraint = "$claims_hash";

/** Claims the rows (id) of `page`, the part of a statement that inserts them. */
export function claimRows(schema: string, { hash, bodyHash }: NewClaim, page: Sql): Sql {
  return sql`insert into ${sql.id(schema, claimTable)} (hash, body_hash, row_id) select ${hash}, ${bodyHash}, id from ${page}`;
}

/** Claims a change of a table, as one of its acts. */
export function claimAct(schema: string, { hash, bodyHash }: NewClaim): Act {
  const values = sql`${sql.lit(hash)}, ${sql.lit(bodyHash)}`;
  return act("", sql`insert into ${sql.id(schema, claimTable)} (hash, body_hash) values (${values})`);
}

/** The claim of this hash as (body_hash, row_id); what has expired goes. */
export function claimStatement(schema: string, hash: string): Statement {
  const claims = sql.id(schema, claimTable);
  const since = sql`current_timestamp - make_interval(secs => ${sql.lit(limits.idempotencyValidSeconds)})`;
  return compile(sql`
    with expired as (delete from ${claims} where at <= ${since})
    select body_hash, row_id from ${claims} where hash = ${hash} and at > ${since}`);
}
