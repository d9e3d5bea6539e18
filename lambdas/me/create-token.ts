import { createToken } from "../../api/me.ts";
import { endpoint } from "../http/endpoint.ts";
import { userOf } from "../http/presented-credential.ts";
import { unauthorized, unavailable } from "../http/problem.ts";
import { foreignOrganization, membershipsOf } from "./model/limited-to.ts";
import { newTokenOf } from "./model/new-token.ts";
import { tokenReply } from "./model/replies.ts";

/** A token that is created with a limited token has at most that token's organizations and validity. */
export const handler = endpoint(createToken, async ({ body, access, credential, now }) => {
  const userId = userOf(credential) ?? "none";
  const wanted = body.organizationIds ?? [];
  const memberships = await access.read(membershipsOf(userId, wanted));
  const caller = access.caller();
  if (caller.kind !== "user") throw unauthorized();
  const { organizationIds: only, expiresAt } = caller.bounds;
  const refused = foreignOrganization(wanted, memberships, only);
  if (refused) throw refused;
  const { description, access: made, expiresInDays } = body;
  const organizationIds = body.organizationIds ?? only;
  const { row, value, writes } = newTokenOf(
    { userId, description, access: made, organizationIds, expiresInDays, expiresAtMost: expiresAt },
    now,
  );
  const reply = { token: tokenReply(row) };
  const outcome = await access.commit(writes, reply);
  if (!outcome.ok) throw unavailable(new Error("A new token was refused"));
  return { token: { ...reply.token, value } };
});
