import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = z.iso.datetime({ precision: 3 });

/** The remembered first answer to an Idempotency-Key (CONTRACT §1). */
export const IdempotencyRecord = entity(
  z.object({ bodyHash: z.string(), reply: z.string(), expiresAt: at, ttl: z.int() }),
  (k: { hash: string }) => ({ pk: `IDEM#${k.hash}`, sk: "IDEM" }),
);
