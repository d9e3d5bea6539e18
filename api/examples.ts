import type { RouteId } from "./index.ts";

/** The inputs of a sample call of a route, in addition to the ids in its path. */
export interface Example {
  query?: Record<string, string>;
  body?: Record<string, unknown>;
}

const examples = {
  "list-builds": { query: { limit: "20" } },
  "create-build": { body: { title: "First deployment" } },
  "list-build-logs": { query: { limit: "100" } },
  "create-credential": { body: { description: "for the importer" } },
  "create-environment": { body: { name: "GREETING", value: "hello" } },
  "update-environment": { body: { value: "good morning" } },
  "create-table": { body: { name: "notes", columns: [{ name: "text", type: "string", nullable: false }] } },
  "update-table": { body: { add: [{ name: "done", type: "boolean", default: false }] } },
  "list-rows": { query: { limit: "50" } },
  "create-row": { body: { row: { text: "hello" } } },
  "update-row": { body: { row: { text: "good morning" } } },
  "list-files": { query: { limit: "50" } },
  "create-files": { body: { files: [{ name: "report.pdf", mime: "application/pdf" }] } },
} satisfies Partial<Record<RouteId, Example>>;

const byId = new Map<string, Example>(Object.entries(examples));

/** The sample call of a route, for the OpenAPI document and the reference page; empty if its path says everything. */
export const exampleOf = (routeId: string): Example => byId.get(routeId) ?? {};
