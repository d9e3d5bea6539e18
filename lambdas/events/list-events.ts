import { listEvents } from "../../api/events.ts";
import { isId } from "../../api/ids.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { Event } from "../http/model/event.ts";
import { invalid, notFound } from "../http/problem.ts";
import { Organization } from "../organizations/model/rows.ts";

export const handler = endpoint(listEvents, async ({ params, query, access, now }, { table }) => {
  const ownerId = isId("org", params.orgId) ? params.orgId : "none";
  const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
  const readable = position === undefined || isId("evt", position);
  const after = readable ? position : undefined;
  const [{ organization }, page] = await Promise.all([
    access.read({ organization: Organization.at({ id: ownerId }) }),
    table.list(Event.list({ ownerId }, { limit: query.limit, newestFirst: true, after })),
  ]);
  if (!organization) throw notFound();
  const list = `events:${ownerId}`;
  const secret = organization.secret ?? organization.createdAt;
  if (query.cursor !== undefined && !(readable && isGenuine(secret, list, query.cursor))) {
    throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
  }
  const kept = page.rows.filter(({ expiresAt }) => expiresAt > now.toISOString());
  // The newest come first, so all events after an expired one have expired too.
  const more = page.more && kept.length === page.rows.length;
  const last = kept.at(-1);
  return {
    events: kept.map(({ id, at, action, actor, ids, outcome }) => ({ id, at, action, actor, ids, outcome })),
    nextCursor: more && last ? sealCursor(secret, list, last.id) : null,
  };
});
