import { type RawBuilder, sql } from "kysely";
import { innerNames } from "./inner-names.ts";
import { type Query, query, type Sql } from "./sql.ts";

/**
 * The Data API gives at most 64 KiB per row and 1 MiB per answer, whose JSON can be twice as long as the text in it.
 * So texts are split into chunks, and a statement stops when its result is full.
 */
const chunkCharacters = 15_000;
const answerBytes = 450_000;

const chunks = (body: Sql): Sql =>
  sql`generate_series(0, (char_length(${body}) - 1) / ${sql.lit(chunkCharacters)}) as part`;
const chunk = (body: Sql): Sql =>
  sql`substr(${body}, cast(part * ${sql.lit(chunkCharacters)} + 1 as integer), ${sql.lit(chunkCharacters)})`;

/**
 * The catalog's tables, or the one of this name, from `from` bytes on. The next statement continues at `total`. If
 * `stamp` has changed between two statements, their chunks do not belong together.
 */
export function catalogQuery(schema: string, name: string | null, from: number): Query {
  const catalog = sql.id(schema, innerNames.catalog);
  const named = name === null ? sql`true` : sql`name = ${name}`;
  return query(
    { number: "bigint", version: "bigint", chunk: "text", total: "bigint", stamp: "text" },
    sql`
    with found as (select number, version, cast(definition as text) as body from ${catalog} where ${named}),
    chunks as (select number, version, part, ${chunk(sql`body`)} as chunk from found cross join lateral ${chunks(sql`body`)}),
    sized as (select *, cast(sum(octet_length(chunk)) over (order by number, part) as bigint) as total from chunks)
    select number, version, chunk, total,
      (select concat(count(*), '/', sum(version), '/', max(number)) from found) as stamp
    from sized where total > ${sql.lit(from)} and total <= ${sql.lit(from + answerBytes)} order by number, part`,
  );
}

/** Whether a statement of the catalog may have left something for the next one. */
export function isFull(bytes: number): boolean {
  return bytes > answerBytes / 2;
}

/**
 * Rows of a table: first, as id 0, the table's header (`headSchema` of rows.ts), then each row as JSON. `page` gives
 * (id, body); as many of its rows come as fit into one answer, and always the first. `beside` may write what belongs
 * to the rows of `page` in the same statement.
 */
export function rowsQuery(schema: string, table: string, page: Sql, beside?: (page: Sql) => Sql): Query {
  const catalog = sql.id(schema, innerNames.catalog);
  const columns: RawBuilder<unknown> = sql`
    select coalesce(json_agg(json_build_object('name', one ->> 'name', 'type', one ->> 'type') order by position), cast('[]' as json))
    from json_array_elements(definition -> 'columns') with ordinality as list(one, position)`;
  const head = sql`
    select cast(0 as bigint) as id, cast(json_build_object(
      'table', number, 'columns', (${columns}), 'found', (select count(*) from page)) as text) as body
    from ${catalog} where name = ${table}`;
  return query(
    { id: "bigint", chunk: "text" },
    sql`
    with page as (${page}),${beside ? sql` beside as (${beside(sql`page`)}),` : sql``}
    items as (${head} union all select id, body from page),
    sized as (
      select id, body, sum(octet_length(body)) over (order by id) as total, row_number() over (order by id) as place
      from items
    )
    select id, ${chunk(sql`body`)} as chunk
    from sized cross join lateral ${chunks(sql`body`)}
    where total <= ${sql.lit(answerBytes)} or place <= 2
    order by id, part`,
  );
}
