import * as z from "zod";
import { cursor, pageLimit, timestamp } from "./common.ts";
import { eventActor, eventOutcome } from "./event.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

export const event = z.object({
  id: z.string(),
  at: timestamp(),
  action: z.string(),
  actor: eventActor(),
  ids: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  outcome: eventOutcome(),
});

export const listEvents = route("list-events", "GET /organizations/{orgId}/events", {
  summary: "The changes in an organization, newest first.",
  query: () => z.object({ limit: pageLimit(limits.eventsPageMax, limits.eventsPageDefault), cursor: cursor() }),
  reply: () => z.object({ events: z.array(event), nextCursor: z.string().nullable() }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});
