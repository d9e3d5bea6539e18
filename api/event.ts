import * as z from "zod";

/** Who made a change: a user with a token or signed in to the console, a key, an app with its own identity, or the operator. */
export const eventActor = () =>
  z.discriminatedUnion("kind", [
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
export const eventOutcome = () => z.enum(["done", "refused", "unknown"]);
