import * as z from "zod";
import { timestamp } from "./common.ts";
import { route } from "./route.ts";

/** A signed STS GetCallerIdentity request, by which a deployed app proves who it is (docs/api.md, Sessions). */
const proof = z.object({
  url: z.string().max(2048),
  headers: z.record(z.string().max(128), z.string().max(8192)),
  body: z.string().max(1024),
});

export const createSession = route("create-session", "POST /sessions", {
  event: { none: "A session changes nothing; the events of what is done with it name its key or app." },
  summary: "Exchanges a key, or a deployed app's identity proof, for a token that is valid for ten minutes.",
  body: () => z.object({ proof: proof.optional() }),
  reply: () =>
    z.object({ session: z.object({ token: z.string(), organizationId: z.string(), expiresAt: timestamp() }) }),
  status: 201,
  errors: [],
  uses: ["table:read", "table:write", "keys:record-use", "apps:identify", "identity:prove"],
  credential: "none",
  lateValidation: true,
});
