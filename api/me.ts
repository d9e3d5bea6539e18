import * as z from "zod";
import { timestamp } from "./common.ts";
import { organization } from "./organizations.ts";
import { route, tokenAccesses } from "./route.ts";
import { description, tokenBounds } from "./tokens.ts";

const user = z.object({ id: z.string(), name: z.string(), email: z.string() });

const token = z.object({
  id: z.string(),
  description: z.string(),
  access: z.enum(tokenAccesses),
  organizationIds: z.array(z.string()).nullable(),
  createdAt: timestamp(),
  expiresAt: timestamp().nullable(),
  lastUsedAt: timestamp().nullable(),
});
export type TokenReply = z.infer<typeof token>;

/** The answer that creates a token: a repeated answer has no value. */
export const createdToken = z.object({ token: token.extend({ value: z.string().optional() }) });

export const getMe = route("get-me", "GET /me", {
  summary: "The user of the credential and their organizations; for a key, the user is null.",
  reply: () => z.object({ user: user.nullable(), organizations: z.array(organization()) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const listTokens = route("list-tokens", "GET /me/tokens", {
  summary: "The user's personal access tokens, newest first, without their values.",
  reply: () => z.object({ tokens: z.array(token) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
  callers: "users",
});

export const createToken = route("create-token", "POST /me/tokens", {
  summary: "Creates a personal access token; only this answer contains its value.",
  body: () => z.object({ description, ...tokenBounds }),
  reply: () => createdToken,
  status: 201,
  errors: ["idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  callers: "users",
});

export const deleteToken = route("delete-token", "DELETE /me/tokens/{tokenId}", {
  summary: "Revokes a personal access token from the next request on; every token may revoke itself.",
  ownToken: true,
  reply: () => z.object({ token: z.string() }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  callers: "users",
});
