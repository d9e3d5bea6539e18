import type { Route } from "../api/route.ts";
import { declaredRoutes } from "./declared-routes.ts";

/** All that sending a request needs to know of its route. It is plain data, so that the package holds it without the schemas. */
export interface ClientRoute {
  id: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** The fields that go into the query string. */
  query: readonly string[];
  hasBody: boolean;
  /** The field of a list's reply that holds the items. */
  items?: string;
}

function itemsOf({ id, definition }: Route): string | undefined {
  if (!id.startsWith("list-") || !("shape" in definition.reply)) return undefined;
  const fields: Record<string, { type?: string }> = { ...Object(definition.reply.shape) };
  return Object.keys(fields).find((name) => fields[name]?.type === "array");
}

/** The client's route table, derived from the contract; `scripts/package/sdk.ts` puts its values into the package. */
export const clientRoutes: readonly ClientRoute[] = declaredRoutes.map((route: Route) => {
  const items = itemsOf(route);
  return {
    id: route.id,
    method: route.method,
    path: route.path,
    query: Object.keys(route.definition.query?.shape ?? {}),
    hasBody: route.definition.body !== undefined,
    ...(items !== undefined && { items }),
  };
});
