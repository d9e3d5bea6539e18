import { expect, test } from "vitest";
import { positional } from "../../../local/rds/named-parameters.ts";

test.each([
  ["select :a, :b, :a", "select $1, $2, $1", ["a", "b"]],
  ["select a::text, :a::json", "select a::text, $1::json", ["a"]],
  ["select ':a', \":a\", E'\\':a', 'it''s :a'", "select ':a', \":a\", E'\\':a', 'it''s :a'", []],
  ["select $$ :a $$, $x$ :a $$ $x$, :b", "select $$ :a $$, $x$ :a $$ $x$, $1", ["b"]],
  ["select 1 -- :a\n, :b /* :c */", "select 1 -- :a\n, $1 /* :c */", ["b"]],
  ["select :1, a$b$c, :p_2x", "select $1, a$b$c, $2", ["1", "p_2x"]],
  ["do 'begin x := 1; end'", "do 'begin x := 1; end'", []],
])("%s", (statement, sql, names) => {
  expect(positional(statement)).toEqual({ sql, names });
});
