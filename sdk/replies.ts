import type { Route } from "../api/route.ts";
import { declaredRoutes } from "./declared-routes.ts";
import type { ReplySchemas } from "./send.ts";

/** The schema of each route's reply, by the route's id: with them, an answer that the contract does not know is an error. */
export const replySchemas: ReplySchemas = Object.fromEntries(
  declaredRoutes.map(({ id, definition }: Route) => [id, { safeParse: (body) => definition.reply.safeParse(body) }]),
);
