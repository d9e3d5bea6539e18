import { expect, test } from "vitest";
import { hoistRepeated, type Json } from "../../../api/openapi-components.ts";

const text = { type: "string", description: "long enough that a schema of several such fields gets a name" };
const object = (required: string[], ...fields: string[]): Json => ({
  type: "object",
  properties: Object.fromEntries(fields.map((name) => [name, text])),
  required,
});

test("an object that has more than another is written as what it adds", () => {
  const base = object(["id", "name"], "id", "name");
  const more = object(["id", "name", "value"], "id", "name", "value");
  const { document, schemas } = hoistRepeated({ paths: { token: base, created: { token: more } } });
  expect(schemas.Token).toEqual(base);
  const added = { type: "object", properties: { value: text }, required: ["value"] };
  const extended = { allOf: [{ $ref: "#/components/schemas/Token" }, added] };
  expect(document).toEqual({ paths: { token: { $ref: "#/components/schemas/Token" }, created: { token: extended } } });
});

test("an object that requires less than another is not written as its extension", () => {
  const base = object(["id", "name"], "id", "name");
  const less = object(["id"], "id", "name", "value");
  const { document } = hoistRepeated({ one: { token: base }, other: { token: base }, created: { token: less } });
  const token = { $ref: "#/components/schemas/Token" };
  expect(document).toEqual({ one: { token }, other: { token }, created: { token: less } });
});
