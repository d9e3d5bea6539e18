import { sql } from "kysely";
import { describe, expect, it, test } from "vitest";
import { readRows } from "../../../../lambdas/tables/model/rows.ts";
import { castTypes, compile, physicalName, physicalTypes, query } from "../../../../lambdas/tables/model/sql.ts";
import { rowIdOf } from "../../../../lambdas/tables/model/validate.ts";

const columns = [
  { name: "title", type: "string" },
  { name: "seen", type: "date" },
  { name: "xmin", type: "integer" },
  { name: "extra", type: "json" },
];
const head = (found: number) => ({ id: 0, chunk: JSON.stringify({ table: 5, columns, found }) });
const at = { created_at: "2026-11-20T01:02:03+00:00", updated_at: "2026-11-20T01:02:03.4+01:30" };

describe("the chunks of a page of rows", () => {
  it("become rows with every column, in the table's order, with instants in UTC", () => {
    const body = JSON.stringify({ id: 1, extra: [1], xmin$: 7, title: "a", seen: "2026-11-20T00:00:00+00:00", ...at });
    const empty = JSON.stringify({ id: 2, title: null, seen: null, extra: null, ...at });
    const chunks = [head(9), { id: 1, chunk: body.slice(0, 10) }, { id: 1, chunk: body.slice(10) }];
    const page = readRows([...chunks, { id: 2, chunk: empty }]);
    const times = { created_at: "2026-11-20T01:02:03.000Z", updated_at: "2026-11-19T23:32:03.400Z" };
    expect(page).toEqual({
      table: 5,
      found: 9,
      rows: [
        { id: 1, title: "a", seen: "2026-11-20T00:00:00.000Z", xmin: 7, extra: [1], ...times },
        { id: 2, title: null, seen: null, xmin: null, extra: null, ...times },
      ],
    });
    expect(Object.keys(page.rows[0] ?? {})).toEqual([
      ...["id", "title", "seen", "xmin", "extra"],
      ...["created_at", "updated_at"],
    ]);
  });

  it("may hold no row", () => {
    expect(readRows([head(0)])).toEqual({ table: 5, found: 0, rows: [] });
  });

  it("without the table's header are those of no table: 404", () => {
    expect(() => readRows([])).toThrow(expect.objectContaining({ code: "not_found" }));
  });
});

test.each(["1", "42", "9007199254740991"])("%s can be a row's id", (text) => {
  expect(rowIdOf(text)).toBe(Number(text));
});

test.each(["", "0", "01", "-1", "+1", "1.0", "1e3", "x", "1x", "x1", " 1", "9007199254740992", "10000000000000000"])(
  "%j cannot be a row's id: 404",
  (text) => {
    expect(() => rowIdOf(text)).toThrow(expect.objectContaining({ code: "not_found" }));
  },
);

describe("a statement", () => {
  const statement = sql`select ${"a"}, ${null} from ${sql.id("s", 'x"y')}`;

  it("binds its values and quotes its names, for the Data API and for a function of the database", () => {
    expect(compile(statement)).toEqual({ sql: 'select :p1, :p2 from "s"."x""y"', values: ["a", null] });
    expect(query({ a: "text" }, statement)).toEqual({
      sql: 'select ($1)[1], ($1)[2] from "s"."x""y"',
      values: ["a", null],
      columns: { a: "text" },
    });
  });

  it("takes texts only, because their types are cast in it", () => {
    expect(() => compile(sql`select ${5}`)).toThrow("A statement takes texts");
  });

  it("gives each column the type that keeps its values whole, and casts without a bound that would cut a text", () => {
    const text = (types: typeof physicalTypes) =>
      Object.fromEntries(Object.entries(types).map(([name, type]) => [name, compile(type).sql]));
    expect(text(physicalTypes)).toEqual({
      string: "varchar(255)",
      text: "text",
      integer: "bigint",
      float: "double precision",
      boolean: "boolean",
      date: "timestamptz(3)",
      json: "json",
    });
    expect(text(castTypes)).toEqual({ ...text(physicalTypes), string: "text" });
  });

  it("names the columns that PostgreSQL reserves otherwise", () => {
    const reserved = ["ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"];
    expect(reserved.map(physicalName)).toEqual(reserved.map((name) => `${name}$`));
    expect(["id", "oid", "title"].map(physicalName)).toEqual(["id", "oid", "title"]);
  });
});
