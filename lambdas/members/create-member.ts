import { limits } from "../../api/limits.ts";
import { createMember } from "../../api/members.ts";
import type { Role } from "../../api/role.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, Problem } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { addressOf, memberReply, memberWrites, newUser } from "../organizations/model/members.ts";
import { organizationAt } from "../organizations/model/organizations.ts";
import { UserEmail } from "../organizations/model/rows.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { newSignInLink } from "../sign-in/model/link.ts";
import type { Writes } from "../table/writer.ts";
import { requireRole, roleFor, roleNamed, stillHasRole } from "./model/change.ts";

interface Wanted {
  organization: { id: string; name: string };
  role: Role;
}

/** Invites a user who has no account: the account, the membership and the one-time link. */
function invitation(wanted: Wanted & { email: string; name: string; consoleAddress: string }, now: Date) {
  const { organization, role, email, name, consoleAddress } = wanted;
  const { user, writes } = newUser({ email, name }, now);
  const validSeconds = limits.invitationValidSeconds;
  const link = newSignInLink({ userId: user.id, organizationId: organization.id, validSeconds, consoleAddress }, now);
  const { row, ...member } = memberWrites({ organization, user, role, invitation: link.codeHash }, now);
  return { row, url: link.url, expiresAt: link.expiresAt, writes: { ...writes, ...member, link: link.write } };
}

/** The name of a user who was invited without one: the part of the e-mail address before the @. */
function nameIn(email: string): string {
  return [...email.slice(0, email.indexOf("@"))].slice(0, limits.nameLengthMax).join("");
}

export const handler = endpoint(createMember, async ({ params, text, body, access, now, refusal }, { console }) => {
  const refused = refusal([]);
  return retryConflicts("The member", async () => {
    const { organization, known } = await access.read({
      organization: organizationAt(params),
      known: refused ? undefined : UserEmail.at({ address: addressOf(body.email) }),
    });
    const caller = access.caller();
    const least = roleFor(roleNamed(text));
    requireRole(caller, least);
    if (refused) throw refused;
    if (!organization) throw notFound();
    const { email, role, name = nameIn(email) } = body;
    const invited = known
      ? undefined
      : invitation({ organization, role, email, name, consoleAddress: console.address }, now);
    const { row, ...added } = invited
      ? { row: invited.row, ...invited.writes }
      : memberWrites({ organization, user: known ?? { id: "", name, email }, role }, now);
    const reply = {
      member: memberReply(row),
      invitation: invited ? { expiresAt: invited.expiresAt } : null,
    };
    const writes = { caller: stillHasRole(caller, organization.id, least), ...added };
    const outcome = await access.commit<Writes>(writes, reply);
    if (outcome.ok)
      return invited ? { ...reply, invitation: { url: invited.url, expiresAt: invited.expiresAt } } : reply;
    const { failed } = outcome;
    if (failed.membership) throw new Problem("already_member", `${email} is a member of the organization already.`);
    if (failed.totals && !failed.email && !failed.caller) throw limitReached("members");
    return undefined;
  });
});
