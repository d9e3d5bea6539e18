import { methodName } from "../api/route.ts";
import type { Client } from "./client-types.ts";
import { clientRoutes } from "./routes.ts";
import { type CallOptions, type Connection, send } from "./send.ts";

/** One method per route, each sending its call over the connection. */
export function routeMethods(connection: Connection): Client {
  const methods = clientRoutes.map((route) => [
    methodName(route.id),
    (input: Record<string, unknown> = {}, call: CallOptions = {}) => send(connection, route, input, call),
  ]);
  // The table has the computed type by construction: both are derived from the same declarations.
  return Object.fromEntries(methods) as Client;
}
