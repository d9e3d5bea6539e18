import * as z from "zod";
import { isStorableText, lengthOf, resourceName, timestamp } from "./common.ts";
import { limits } from "./limits.ts";
import { role } from "./organizations.ts";
import { route } from "./route.ts";

const member = z.object({ id: z.string(), name: z.string(), email: z.string(), role: role(), createdAt: timestamp() });
export type MemberReply = z.infer<typeof member>;

/** An e-mail address as it was entered; addresses that differ only in case belong to the same user (docs/api.md, Members). */
const email = z
  .string({ error: "must be a string" })
  .transform((text) => text.trim())
  .refine((text) => /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u.test(text), { error: "must be an e-mail address with one @" })
  .refine((text) => lengthOf(text) <= limits.emailLengthMax, {
    error: `must have at most ${limits.emailLengthMax} characters`,
  })
  .refine(isStorableText, { error: "must be well-formed Unicode without NUL" });

const members = "/organizations/{orgId}/members" as const;

export const listMembers = route("list-members", `GET ${members}`, {
  summary: "The members of the organization, the oldest membership first.",
  reply: () => z.object({ members: z.array(member) }),
  status: 200,
  errors: [],
  uses: ["table:read"],
});

export const createMember = route("create-member", `POST ${members}`, {
  summary: "Adds a user, or invites one who has no account yet; only this answer contains the invitation's link.",
  body: () => z.object({ email, name: resourceName().optional(), role: role() }),
  reply: () =>
    z.object({
      member,
      invitation: z.object({ url: z.string().optional(), expiresAt: timestamp() }).nullable(),
    }),
  status: 201,
  errors: ["already_member", "limit_reached", "idempotency_mismatch"],
  event: "commit",
  uses: ["table:read", "table:write", "console:locate"],
  callers: "users",
  role: "admin",
  // Only an owner may grant the role owner, and every 403 comes before a 400.
  lateValidation: true,
});

export const updateMember = route("update-member", `PUT ${members}/{userId}`, {
  summary: "Gives a member another role.",
  body: () => z.object({ role: role() }),
  reply: () => z.object({ member }),
  status: 200,
  errors: ["last_owner"],
  event: "commit",
  uses: ["table:read", "table:write"],
  callers: "users",
  role: "admin",
  lateValidation: true,
});

export const deleteMember = route("delete-member", `DELETE ${members}/{userId}`, {
  summary: "Removes a member; every member may leave.",
  reply: () => z.object({ member: z.string() }),
  status: 200,
  errors: ["last_owner"],
  event: "commit",
  uses: ["table:read", "table:write"],
  callers: "users",
  role: "admin",
  orSelf: true,
});
