import { methodName } from "../api/route.ts";
import type { ItemOf, ListName } from "./client-types.ts";
import { clientRoutes } from "./routes.ts";
import { type CallOptions, type Connection, send } from "./send.ts";

/** The items of a list route, page after page. A `limit` in the input is the size of a page. */
export async function* iterate<Name extends ListName>(
  connection: Connection,
  name: Name,
  input: Record<string, unknown>,
  options: CallOptions = {},
): AsyncGenerator<ItemOf<Name>, void, undefined> {
  const route = clientRoutes.find(({ id }) => methodName(id) === name);
  if (route?.items === undefined) throw new TypeError(`${name} is not a list.`);
  let cursor: unknown;
  do {
    const page: Record<string, unknown> = Object(
      await send(connection, route, { ...input, ...(cursor ? { cursor } : {}) }, options),
    );
    const items = page[route.items];
    if (Array.isArray(items)) yield* items;
    cursor = page.nextCursor;
  } while (typeof cursor === "string");
}
