import { isId } from "../../api/ids.ts";
import { createToken } from "../../api/me.ts";
import { endpoint } from "../http/endpoint.ts";
import { Membership } from "../http/model/credentials.ts";
import { userOf } from "../http/presented-credential.ts";
import { invalid, unauthorized, unavailable } from "../http/problem.ts";
import { newTokenOf } from "./model/new-token.ts";
import { tokenReply } from "./model/replies.ts";

/** A token that is created with a limited token has at most that token's organizations and validity. */
export const handler = endpoint(createToken, async ({ body, access, credential, now }) => {
  const userId = userOf(credential) ?? "none";
  const wanted = body.organizationIds ?? [];
  const memberships = await access.read(
    Object.fromEntries(
      wanted.filter((id) => isId("org", id)).map((id) => [id, Membership.at({ userId, organizationId: id })]),
    ),
  );
  const caller = access.caller();
  if (caller.kind !== "user") throw unauthorized();
  const { organizationIds: only, expiresAt } = caller.bounds;
  const foreign = wanted.filter((id) => !memberships[id] || only?.includes(id) === false);
  if (foreign.length > 0) {
    throw invalid([
      { path: "organizationIds", message: "must name organizations of the user that this token has access to" },
    ]);
  }
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
