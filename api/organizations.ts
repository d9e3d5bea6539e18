import * as z from "zod";
import { roles } from "./role.ts";
import { route } from "./route.ts";

export const role = z.enum(roles, { error: "must be owner, admin or member" });

export const organization = z.object({ id: z.string(), name: z.string(), role: role.nullable() });

export const ping = route("ping", "GET /ping", {
  summary: "Answers pong if the credential is valid.",
  reply: z.literal("pong"),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const listOrganizations = route("list-organizations", "GET /organizations", {
  summary: "The organization of a key, or all organizations of a user.",
  reply: z.object({ organizations: z.array(organization) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});
