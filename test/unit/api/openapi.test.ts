import { expect, test } from "vitest";
import { routes } from "../../../api/index.ts";
import { openApi } from "../../../api/openapi.ts";

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
  parameters: { name: string; in: string }[];
}
const document = openApi() as { paths: Record<string, Record<string, Operation>> };

test("the OpenAPI document holds every route under its own id, with its status and its path's parameters", () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map((operation) => operation.operationId).sort()).toEqual(routes.map((route) => route.id).sort());
  for (const route of routes) {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    expect(Object.keys(operation?.responses ?? {})).toContain(String(route.definition.status));
    const inPath = operation?.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(route.path.match(/\{\w+\}/g) ?? []);
  }
});
