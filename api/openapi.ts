import * as z from "zod";
import { commonErrors, errorReply } from "./common.ts";
import { type ErrorCode, errorTable } from "./errors.ts";
import { routes } from "./index.ts";
import { type Route, refusalsOf } from "./route.ts";
import { settingsFileSchema } from "./settings.ts";

type Json = Record<string, unknown>;

/** JSON Schema of what a client sends, or of what it gets. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io, unrepresentable: "any" });
  return rest;
}

const jsonBody = (schema: Json) => ({ content: { "application/json": { schema } } });

function parametersOf({ path, definition }: Route): Json[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
  const query = definition.query ? schemaOf(definition.query, "input") : { properties: {} };
  return [
    ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...Object.entries(query.properties ?? {}).map(([name, schema]) => ({ name, in: "query", required: false, schema })),
  ];
}

function errorsOf(route: Route): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...commonErrors, ...refusalsOf(route), ...route.definition.errors]) {
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      { description: codes.join(", "), ...jsonBody({ $ref: "#/components/schemas/Error" }) },
    ]),
  );
}

function operationOf(route: Route & { resource: string }): Json {
  const { definition } = route;
  return {
    operationId: route.id,
    summary: definition.summary,
    tags: [route.resource],
    parameters: parametersOf(route),
    ...(definition.body && { requestBody: jsonBody(schemaOf(definition.body, "input")) }),
    responses: {
      [definition.status]: { description: definition.summary, ...jsonBody(schemaOf(definition.reply, "output")) },
      ...errorsOf(route),
    },
    ...(definition.credential === "none" && { security: [] }),
  };
}

/** The whole interface as an OpenAPI 3.1 document, derived from the route table. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Slipway",
      version: "1.0.0",
      summary: "Deploys applications from zip archives, and rolls back a deployment that fails its health check.",
    },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "<ACCESS_KEY>:<SECRET_KEY>, or a token" },
      },
      schemas: { Error: schemaOf(errorReply, "output"), SettingsFile: settingsFileSchema() },
    },
  };
}
