import { expect, test } from "vitest";
import { routes } from "../../../api/index.ts";
import { openApi } from "../../../api/openapi.ts";

interface Operation {
  operationId: string;
  responses: Record<string, unknown>;
}
type PathItem = { parameters?: { $ref: string }[] } & Record<"get" | "post" | "put" | "delete", Operation | undefined>;
const document = openApi() as {
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, { name: string; in: string }>> & {
    parameters: Record<string, { name: string; in: string }>;
  };
};
const nameOf = (reference: string) => reference.split("/").at(-1) ?? "";
const methodOf = (route: { method: string }) => route.method.toLowerCase() as "get" | "post" | "put" | "delete";

test("the OpenAPI document holds every route under its own id, with its status and its path's parameters", () => {
  const operations = Object.values(document.paths).flatMap(({ parameters: _, ...methods }) => Object.values(methods));
  expect(operations.map((operation) => operation?.operationId).sort()).toEqual(routes.map((route) => route.id).sort());
  for (const route of routes) {
    const operation = document.paths[route.path]?.[methodOf(route)];
    expect(Object.keys(operation?.responses ?? {})).toContain(String(route.definition.status));
    const inPath = document.paths[route.path]?.parameters?.map(
      ({ $ref }) => document.components.parameters[nameOf($ref)],
    );
    expect(inPath?.map((one) => [one?.in, `{${one?.name}}`]) ?? []).toEqual(
      (route.path.match(/\{\w+\}/g) ?? []).map((name) => ["path", name]),
    );
  }
});

test("every reference in the document leads to a component, and no object is written twice at length", () => {
  const text = JSON.stringify(document);
  const references = new Set(
    [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
  );
  expect(references.size).toBeGreaterThan(10);
  for (const reference of references) {
    const [kind = "", name = ""] = reference.split("/");
    expect([reference, document.components[kind]?.[name]]).not.toContain(undefined);
  }
  expect(text.match(/"\$ref":/g)?.length).toBe([...text.matchAll(/"\$ref":"#\/components\//g)].length);
  expect(text.match(/"redeployBlockedBy":\{/g)).toHaveLength(1);
});

test("the document has at most 60 KB", () => {
  expect(JSON.stringify(document).length).toBeLessThanOrEqual(60 * 1024);
});
