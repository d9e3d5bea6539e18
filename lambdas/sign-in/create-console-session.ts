import { createConsoleSession } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { Membership } from "../http/model/credentials.ts";
import { secretHash } from "../http/presented-credential.ts";
import { unauthorized } from "../http/problem.ts";
import { User } from "../organizations/model/rows.ts";
import { newConsoleSession } from "./model/console-session.ts";
import { refuseForeignOrigin, sessionCookie } from "./model/cookie.ts";
import { SignInLink } from "./model/link.ts";

/** The link's row is deleted in the transaction that makes the session, so that of two requests with one code one succeeds. */
export const handler = endpoint(createConsoleSession, async ({ body, headers, now, setCookie }, { table, console }) => {
  refuseForeignOrigin(headers);
  const codeHash = secretHash(body.code);
  const { link } = await table.read({ link: SignInLink.at({ codeHash }) });
  if (!link || link.expiresAt <= now.toISOString()) throw unauthorized();
  const { userId, organizationId } = link;
  const { user } = await table.read({ user: User.at({ id: userId }) });
  if (!user) throw unauthorized();
  const { secret, row, reply, writes } = newConsoleSession(user, createConsoleSession.id, headers["user-agent"], now);
  const outcome = await table.write({
    link: SignInLink.delete({ codeHash }, { userId, expiresAt: { is: "above", value: now.toISOString() } }),
    // An invitation is valid only while the user is still a member.
    membership: organizationId ? Membership.check({ userId, organizationId }, { organizationId }) : undefined,
    ...writes,
  });
  if (!outcome.ok) throw unauthorized();
  setCookie(sessionCookie(secret, row.expiresAt, now, console));
  return reply;
});
