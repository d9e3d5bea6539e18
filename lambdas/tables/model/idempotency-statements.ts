import { sql } from "kysely";
import { limits } from "../../../api/limits.ts";
import { type ChangeStatement, changeStatement } from "./change-statement.ts";
import { innerNames } from "./inner-names.ts";
import { type Query, query, type Sql } from "./sql.ts";

/** The record of an Idempotency-Key, written in the same statement as the work, so that both or neither exist. */
export interface NewRecord {
  hash: string;
  bodyHash: string;
}

const recordTable = (schema: string): Sql => sql`${sql.id(schema, innerNames.idempotency)}`;

/** Records the rows (id) of `page`, the part of a statement that inserts them. */
export function recordRows(schema: string, { hash, bodyHash }: NewRecord, page: Sql): Sql {
  return sql`insert into ${recordTable(schema)} (hash, body_hash, row_id) select ${hash}, ${bodyHash}, id from ${page}`;
}

/** Records a change of a table, as one of its statements. */
export function recordChange(schema: string, { hash, bodyHash }: NewRecord): ChangeStatement {
  const values = sql`${sql.lit(hash)}, ${sql.lit(bodyHash)}`;
  return changeStatement("", sql`insert into ${recordTable(schema)} (hash, body_hash) values (${values})`);
}

/** The record of this hash; expired ones are deleted. */
export function recordQuery(schema: string, hash: string): Query {
  const since = sql`current_timestamp - make_interval(secs => ${sql.lit(limits.idempotencyValidSeconds)})`;
  return query(
    { body_hash: "text", row_id: "bigint" },
    sql`
    with expired as (delete from ${recordTable(schema)} where at <= ${since})
    select body_hash, row_id from ${recordTable(schema)} where hash = ${hash} and at > ${since}`,
  );
}
