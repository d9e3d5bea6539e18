import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = z.iso.datetime({ precision: 3 });

/** A database of an organization; `secret` seals the cursors of its lists. */
export const Database = entity(
  z.object({ id: z.string(), organizationId: z.string(), name: z.string(), secret: z.string(), createdAt: at }),
  (k: { id: string }) => ({ pk: `DBS#${k.id}`, sk: "DBS" }),
);
