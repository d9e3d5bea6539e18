import { isJson, type Json } from "../../../api/openapi-components.ts";
import { methodName } from "../../../api/route.ts";

/** One operation of the OpenAPI document, as the reference page shows it. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  /** The names between braces in the path. */
  params: string[];
  query: Json | undefined;
  body: Json | undefined;
  reply: Json;
  status: string;
  errors: string[];
  sdkMethod: string;
}

const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((found, name) => (isJson(found) ? found[name] : undefined), value);
const jsonAt = (value: unknown, ...path: string[]): Json => {
  const found = at(value, ...path);
  return isJson(found) ? found : {};
};
const textAt = (value: unknown, name: string): string => String(at(value, name) ?? "");

/** What a reference such as `#/components/parameters/limit` leads to; anything else is itself. */
function resolved(document: Json, value: Json): Json {
  return typeof value.$ref === "string" ? jsonAt(document, ...value.$ref.replace("#/", "").split("/")) : value;
}

function queryOf(document: Json, operation: Json): Json | undefined {
  const listed = Array.isArray(operation.parameters) ? operation.parameters.filter(isJson) : [];
  const parameters = listed.map((one) => resolved(document, one));
  const query = parameters.filter((one) => one.in === "query");
  if (query.length === 0) return undefined;
  return {
    type: "object",
    properties: Object.fromEntries(query.map((one) => [textAt(one, "name"), jsonAt(one, "schema")])),
  };
}

function operationOf(document: Json, path: string, method: string, operation: Json): Operation {
  const responses = jsonAt(operation, "responses");
  const status = Object.keys(responses).find((one) => one.startsWith("2")) ?? "200";
  const id = textAt(operation, "operationId");
  const content = ["content", "application/json", "schema"];
  return {
    id,
    method: method.toUpperCase(),
    path,
    summary: textAt(operation, "summary"),
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name)),
    query: queryOf(document, operation),
    body: isJson(operation.requestBody) ? jsonAt(resolved(document, operation.requestBody), ...content) : undefined,
    reply: jsonAt(resolved(document, jsonAt(responses, status)), ...content),
    status,
    errors: Object.values(jsonAt(operation, "x-errors")).flatMap((codes) => String(codes).split(", ")),
    sdkMethod: methodName(id),
  };
}

/** The operations of an OpenAPI document in its order, and its shared schemas. */
export function operationsOf(document: Json): { operations: Operation[]; shared: [name: string, schema: Json][] } {
  const operations = Object.entries(jsonAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(isJson(item) ? item : {}).flatMap(([method, operation]) =>
      method === "parameters" || !isJson(operation) ? [] : [operationOf(document, path, method, operation)],
    ),
  );
  const schemas = Object.entries(jsonAt(document, "components", "schemas"));
  return {
    operations,
    shared: schemas.flatMap(([name, schema]) => (isJson(schema) ? [[name, schema] as [string, Json]] : [])),
  };
}
