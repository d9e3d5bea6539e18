import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = z.iso.datetime({ precision: 3 });

/** `secret` seals the cursors of its lists; rows from before there were such lists lack it until they are migrated. */
export const Organization = entity(
  z.object({ id: z.string(), name: z.string(), secret: z.string().optional(), createdAt: at }),
  (k: { id: string }) => ({
    pk: `ORG#${k.id}`,
    sk: "ORG",
  }),
);

export const User = entity(
  z.object({ id: z.string(), email: z.string(), name: z.string(), createdAt: at }),
  (k: { id: string }) => ({ pk: `USR#${k.id}`, sk: "USR" }),
);
