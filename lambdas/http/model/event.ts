import * as z from "zod";
import { eventActor, eventOutcome } from "../../../api/event.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const eventSchema = () =>
  z.object({
    id: z.string(),
    /** The organization, or the user for a change that belongs to no organization. */
    ownerId: z.string(),
    at: at(),
    /** The id of the route, or the name of the operator's command. */
    action: z.string(),
    actor: eventActor(),
    /** The ids of what was changed; never values. */
    ids: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    outcome: eventOutcome(),
    expiresAt: at(),
    ttl: z.int(),
  });
export type EventRow = z.infer<ReturnType<typeof eventSchema>>;

/** A change made through the API or by the operator, written in the transaction of the change (ADR 0019). */
export const Event = entity(
  eventSchema,
  (k: { ownerId: string; id: string }) => ({ pk: `EVT#${k.ownerId}`, sk: `EVT#${k.id}` }),
  (of: { ownerId: string }) => ({ pk: `EVT#${of.ownerId}`, prefix: "EVT#" }),
);
