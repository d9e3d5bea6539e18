import * as z from "zod";
import { commonErrors } from "./common.ts";
import { type ErrorCode, errorTable } from "./errors.ts";
import { exampleOf } from "./examples.ts";
import { routes } from "./index.ts";
import { hoistRepeated, isJson, type Json } from "./openapi-components.ts";
import type { Route } from "./route.ts";

/** The body of every error (docs/api.md, Errors). */
const errorReply = z.object({
  status: z.string(),
  message: z.string(),
  code: z.string(),
  requestId: z.string(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

/** JSON Schema of what a client sends, or of what it gets. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      orNull(jsonSchema);
      // `format` is enough; zod's pattern would also spell out leap years.
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      // Later versions may add fields to an answer.
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // Answers contain every field, so a default tells clients nothing.
      if (io === "output") delete jsonSchema.default;
      // zod's default bounds are JavaScript's safe integers, not rules of the field.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return rest;
}

/** Writes `anyOf: [schema, null]` in place as one schema whose types include null, which says the same in less. */
function orNull(schema: Json): void {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return;
  const [value, none] = anyOf.filter(isJson);
  if (typeof value?.type !== "string" || none?.type !== "null" || "const" in value || "properties" in value) return;
  delete schema.anyOf;
  Object.assign(schema, value, { type: [value.type, "null"] });
  if (Array.isArray(value.enum)) schema.enum = [...value.enum, null];
}

const jsonBody = (schema: Json, example?: Json) => ({
  content: { "application/json": { schema, ...(example && { example }) } },
});

const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

/** The parameters of every list with pages; each list has bounds of its own for `limit` (docs/api.md, Lists). */
const paging = {
  limit: { name: "limit", in: "query", description: "The size of a page.", schema: { type: "integer", minimum: 1 } },
  cursor: {
    name: "cursor",
    in: "query",
    description: "The nextCursor of the page before.",
    schema: { type: "string" },
  },
};
const isPaging = (name: string): name is keyof typeof paging => Object.hasOwn(paging, name);

function inQuery(name: string, { properties }: Json): Json {
  return { name, in: "query", schema: new Map(Object.entries(Object(properties))).get(name) };
}

/** The parameters of one operation; those of its path are the path's. */
function parametersOf({ definition, method }: Route): Json[] {
  const query = definition.query ? schemaOf(definition.query, "input") : { properties: {} };
  return [
    ...Object.keys(query.properties ?? {}).map((name) => (isPaging(name) ? parameter(name) : inQuery(name, query))),
    ...(method === "POST" && definition.credential !== "none" ? [parameter("IdempotencyKey")] : []),
  ];
}

/** Errors that follow from the method, `x-role` and `x-callers`: said once, for all routes. */
const derived: readonly ErrorCode[] = ["token_scope", "forbidden", "users_only", "idempotency_mismatch"];

/** The errors of this route alone, by status: `{"409": "build_in_progress"}`. Their body is that of every error. */
function errorsOf(route: Route): Record<string, string> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of route.definition.errors) {
    if (derived.includes(code)) continue;
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), codes.join(", ")]));
}

function operationOf(route: Route): Json {
  const { definition } = route;
  const parameters = parametersOf(route);
  const errors = errorsOf(route);
  return {
    operationId: route.id,
    summary: definition.summary,
    ...(definition.role && { "x-role": definition.role }),
    ...(definition.callers && { "x-callers": definition.callers }),
    ...(parameters.length > 0 && { parameters }),
    ...(definition.body && {
      requestBody: jsonBody(schemaOf(definition.body, "input"), exampleOf(route.id).body),
    }),
    responses: {
      [definition.status]: { description: "OK", ...jsonBody(schemaOf(definition.reply, "output")) },
      default: { $ref: "#/components/responses/Error" },
    },
    ...(Object.keys(errors).length > 0 && { "x-errors": errors }),
    ...(definition.credential === "none" && { security: [] }),
  };
}

const listed = (codes: readonly ErrorCode[]) => codes.map((code) => `${code} (${errorTable[code].status})`).join(", ");
const everywhere = `Every route can answer ${listed(commonErrors)}. One that changes something can also answer ${listed(derived)}: x-role is the least role that a user needs, x-callers "users" refuses keys, x-errors names the errors of one route.`;

/** The whole interface as an OpenAPI 3.1 document, derived from the route table. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  const inPath: Record<string, Json> = {};
  for (const route of routes) {
    const names = namesIn(route.path);
    const shared = names.length > 0 ? { parameters: names.map(parameter) } : {};
    paths[route.path] = { ...shared, ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
    for (const name of names) inPath[name] = { name, in: "path", required: true, schema: { type: "string" } };
  }
  const { document, schemas, responses, requestBodies } = hoistRepeated(paths);
  return {
    openapi: "3.1.0",
    info: {
      title: "Slipway",
      version: "1.0.0",
      summary: "Deploys a zip, checks its health, and restores the previous version if the new one is not healthy.",
      description: everywhere,
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    paths: document,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "<ACCESS_KEY>:<SECRET_KEY>, or a token" },
      },
      parameters: {
        ...inPath,
        ...paging,
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description: "Makes the request safe to repeat for 24 hours.",
          schema: { type: "string", maxLength: 255 },
        },
      },
      responses: {
        ...responses,
        Error: { description: "An error", ...jsonBody({ $ref: "#/components/schemas/Error" }) },
      },
      requestBodies,
      schemas: { ...schemas, Error: schemaOf(errorReply, "output") },
    },
  };
}
