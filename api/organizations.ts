import * as z from "zod";
import { resourceName } from "./common.ts";
import { roles } from "./role.ts";
import { route } from "./route.ts";

export const role = () => z.enum(roles, { error: "must be owner, admin or member" });

export const organization = () => z.object({ id: z.string(), name: z.string(), role: role().nullable() });
export type OrganizationReply = z.infer<ReturnType<typeof organization>>;

export const ping = route("ping", "GET /ping", {
  summary: "Answers pong if the credential is valid.",
  reply: () => z.literal("pong"),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const listOrganizations = route("list-organizations", "GET /organizations", {
  summary: "The organization of a key, or all organizations of a user.",
  reply: () => z.object({ organizations: z.array(organization()) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createOrganization = route("create-organization", "POST /organizations", {
  summary: "Makes an organization that the caller owns.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ organization: organization() }),
  status: 201,
  errors: ["idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write"],
  callers: "users",
  lateValidation: true,
});

export const getOrganization = route("get-organization", "GET /organizations/{orgId}", {
  summary: "One organization, with the caller's role.",
  reply: () => z.object({ organization: organization() }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const updateOrganization = route("update-organization", "PUT /organizations/{orgId}", {
  summary: "Renames an organization.",
  body: () => z.object({ name: resourceName() }),
  reply: () => z.object({ organization: organization() }),
  status: 200,
  errors: [],
  event: "commit",
  uses: ["table:read", "table:write"],
  role: "admin",
});
