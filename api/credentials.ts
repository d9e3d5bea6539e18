import * as z from "zod";
import { timestamp } from "./common.ts";
import { route } from "./route.ts";
import { description } from "./tokens.ts";

const listed = z.object({
  id: z.int(),
  access: z.string(),
  description: z.string(),
  expiredAt: timestamp().nullable(),
  createdAt: timestamp(),
  lastUsedAt: timestamp().nullable(),
});
export type ListedCredentialReply = z.infer<typeof listed>;

const created = z.object({
  id: z.int(),
  access: z.string(),
  secret: z.string().optional(),
  description: z.string(),
  expiredAt: timestamp().nullable(),
  createdAt: timestamp(),
});

const credentials = "/organizations/{orgId}/projects/{projectId}/credentials" as const;

export const createCredential = route("create-credential", `POST ${credentials}`, {
  event: "commit",
  summary: "Creates an app key; only this answer contains its secret.",
  body: () =>
    z.object({
      description,
    }),
  reply: () => z.object({ credential: created }),
  status: 201,
  errors: ["credential_limit", "idempotency_mismatch"],
  uses: ["table:read", "table:write"],
});

export const listCredentials = route("list-credentials", `GET ${credentials}`, {
  summary: "The project's app keys, without their secrets.",
  reply: () => z.object({ credentials: z.array(listed) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const deleteCredential = route("delete-credential", `DELETE ${credentials}/{credentialId}`, {
  summary: "Revokes an app key from the next request on.",
  event: "commit",
  reply: () => z.object({ credential: z.int() }),
  status: 200,
  errors: [],
  uses: ["table:read", "table:write"],
});
