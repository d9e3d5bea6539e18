import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const recordSchema = () => z.object({ bodyHash: z.string(), reply: z.string(), expiresAt: at(), ttl: z.int() });
export type IdempotencyRow = z.infer<ReturnType<typeof recordSchema>>;

/** The stored first answer to an Idempotency-Key (docs/api.md, Idempotency). */
export const IdempotencyRecord = entity(recordSchema, (k: { hash: string }) => ({
  pk: `IDEM#${k.hash}`,
  sk: "IDEM",
}));
