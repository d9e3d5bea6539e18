import * as z from "zod";
import { cursor, pageLimit, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { route } from "./route.ts";

/** Who made a change: a user with a token or signed in to the console, a key, an app with its own identity, or the operator. */
export const eventActor = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("user"),
    userId: z.string(),
    tokenId: z.string().optional(),
    sessionId: z.string().optional(),
  }),
  z.object({ kind: z.literal("key"), access: z.string(), sessionId: z.string().optional() }),
  z.object({ kind: z.literal("app"), projectId: z.string(), sessionId: z.string() }),
  z.object({ kind: z.literal("operator") }),
]);

/** `unknown`: the process that made the change ended before it could record the outcome (docs/api.md, Events). */
export const eventOutcome = z.enum(["done", "refused", "unknown"]);

export const event = z.object({
  id: z.string(),
  at: timestamp,
  action: z.string(),
  actor: eventActor,
  ids: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  outcome: eventOutcome,
});

export const listEvents = route("list-events", "GET /organizations/{orgId}/events", {
  summary: "The changes in an organization, newest first.",
  query: z.object({ limit: pageLimit(limits.eventsPageMax, limits.eventsPageDefault), cursor }),
  reply: z.object({ events: z.array(event), nextCursor: z.string().nullable() }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});
