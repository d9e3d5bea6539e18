import * as z from "zod";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const sessionSchema = () =>
  z.object({
    id: z.string(),
    userId: z.string(),
    /** Of the cookie's secret. */
    hash: z.string(),
    userAgent: z.string().optional(),
    createdAt: at(),
    lastUsedAt: at(),
    expiresAt: at(),
    ttl: z.int(),
  });
export type ConsoleSessionRow = z.infer<ReturnType<typeof sessionSchema>>;

/** A user who is signed in to the console in one browser. Without this row, the bearer tokens of the session are invalid. */
export const ConsoleSession = entity(
  sessionSchema,
  (k: { userId: string; id: string }) => ({ pk: `USR#${k.userId}`, sk: `CON#${k.id}` }),
  (of: { userId: string }) => ({ pk: `USR#${of.userId}`, prefix: "CON#" }),
);

/** A bearer token of a console session; it lives ten minutes, and each open page has its own. */
export const ConsoleBearer = entity(
  () => z.object({ hash: z.string(), expiresAt: at(), ttl: z.int() }),
  (k: { userId: string; sessionId: string; id: string }) => ({
    pk: `USR#${k.userId}`,
    sk: `BEA#${k.sessionId}#${k.id}`,
  }),
);
