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

const content = (schema: Json) => ({ content: { "application/json": { schema } } });

test("a body of one field that several routes have is written once, and one that differs stays", () => {
  const body = () => content({ type: "object", properties: { name: { type: "string" } }, required: ["name"] });
  const optional = content({ type: "object", properties: { name: { type: "string" } } });
  const operations = { post: { requestBody: body() }, put: { requestBody: body() }, delete: { requestBody: optional } };
  const { document, requestBodies } = hoistRepeated({ "/projects": operations });
  const reference = { $ref: "#/components/requestBodies/Name" };
  expect(requestBodies).toEqual({ Name: body() });
  expect(document).toEqual({
    "/projects": {
      post: { requestBody: reference },
      put: { requestBody: reference },
      delete: { requestBody: optional },
    },
  });
});

test("an answer that several routes give is written once, with its schema unless something else refers to it", () => {
  const project = object(["project"], "project");
  const answer = () => ({ responses: { 200: { description: "OK", ...content(project) } } });
  const operations = () => ({ get: answer(), put: answer() });
  const reference = { responses: { 200: { $ref: "#/components/responses/Project" } } };
  const alone = hoistRepeated({ "/projects": operations() });
  expect(alone.document).toEqual({ "/projects": { get: reference, put: reference } });
  expect([alone.responses, alone.schemas]).toEqual([{ Project: { description: "OK", ...content(project) } }, {}]);
  const both = hoistRepeated({ "/projects": { ...operations(), post: { requestBody: content(project) } } });
  const body = { $ref: "#/components/schemas/ProjectBody" };
  expect([both.responses, both.schemas]).toEqual([
    { Project: { description: "OK", ...content(body) } },
    { ProjectBody: project },
  ]);
});
