import { expect, it } from "vitest";
import * as z from "zod";
import { route } from "../../../api/route.ts";

it("a route's schemas are made when they are first read, and once", () => {
  const made: string[] = [];
  const schema = (name: string) => () => {
    made.push(name);
    return z.object({ name: z.literal(name) });
  };
  const { definition } = route("read-schemas", "POST /schemas", {
    summary: "Shows when schemas are made.",
    query: schema("query"),
    body: schema("body"),
    reply: schema("reply"),
    status: 200,
    errors: [],
    event: { none: "It exists only here." },
    uses: [],
  });
  expect(made).toEqual([]);
  expect(definition.body.parse({ name: "body" })).toEqual({ name: "body" });
  expect(definition.body.safeParse({ name: "reply" }).success).toBe(false);
  expect(made).toEqual(["body"]);
  expect(Object.keys(definition)).toEqual(expect.arrayContaining(["query", "body", "reply"]));
});
