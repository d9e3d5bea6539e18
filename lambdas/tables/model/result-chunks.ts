import { type RawBuilder, sql } from "kysely";
import type { Statement } from "../../aws/databases.ts";
import { compile, type Sql } from "./sql.ts";
import { catalogTable } from "./statements.ts";

/**
 * The Data API gives at most 64 KiB per row and 1 MiB per answer, whose JSON can be twice as long as the text in it.
 * So texts travel in pieces, and a statement stops where its answer is full.
 */
const pieceCharacters = 15_000;
const answerBytes = 450_000;

const pieces = (body: Sql): Sql =>
  sql`generate_series(0, (char_length(${body}) - 1) / ${sql.lit(pieceCharacters)}) as part`;
const piece = (body: Sql): Sql =>
  sql`substr(${body}, cast(part * ${sql.lit(pieceCharacters)} + 1 as integer), ${sql.lit(pieceCharacters)})`;

/**
 * The catalog's tables, or the one of this name, from `from` bytes on, in rows of (number, version, piece, total, stamp).
 * `total` is where the next statement goes on; when `stamp` has changed between two statements, the parts do not match.
 */
export function catalogStatement(schema: string, name: string | null, from: number): Statement {
  const catalog = sql.id(schema, catalogTable);
  const named = name === null ? sql`true` : sql`name = ${name}`;
  return compile(sql`
    with found as (select number, version, cast(definition as text) as body from ${catalog} where ${named}),
    pieces as (select number, version, part, ${piece(sql`body`)} as piece from found cross join lateral ${pieces(sql`body`)}),
    sized as (select *, cast(sum(octet_length(piece)) over (order by number, part) as bigint) as total from pieces)
    select number, version, piece, total,
      (select concat(count(*), '/', sum(version), '/', max(number)) from found) as stamp
    from sized where total > ${sql.lit(from)} and total <= ${sql.lit(from + answerBytes)} order by number, part`);
}

/** Whether a statement of the catalog may have left something for the next one. */
export function isFull(bytes: number): boolean {
  return bytes > answerBytes / 2;
}

/**
 * Rows of a table in rows of (id, piece): first, as id 0, what `RowsHead` says, then each row as JSON. `page` gives
 * (id, body); as many of its rows come as fit into one answer, and always the first. `beside` may write what belongs
 * to the rows of `page` in the same statement.
 */
export function framedRows(schema: string, table: string, page: Sql, beside?: (page: Sql) => Sql): Statement {
  const catalog = sql.id(schema, catalogTable);
  const columns: RawBuilder<unknown> = sql`
    select coalesce(json_agg(json_build_array(one ->> 'name', one ->> 'type') order by position), cast('[]' as json))
    from ${catalog} cross join lateral json_array_elements(definition -> 'columns') with ordinality as list(one, position)
    where name = ${table}`;
  return compile(sql`
    with page as (${page}),${beside ? sql` beside as (${beside(sql`page`)}),` : sql``}
    items as (
      select cast(0 as bigint) as id,
        cast(json_build_object('columns', (${columns}), 'found', (select count(*) from page)) as text) as body
      union all select id, body from page
    ),
    sized as (
      select id, body, sum(octet_length(body)) over (order by id) as total, row_number() over (order by id) as place
      from items
    )
    select id, ${piece(sql`body`)} as piece
    from sized cross join lateral ${pieces(sql`body`)}
    where total <= ${sql.lit(answerBytes)} or place <= 2
    order by id, part`);
}
