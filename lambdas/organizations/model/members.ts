import { limits } from "../../../api/limits.ts";
import type { MemberReply } from "../../../api/members.ts";
import type { Role } from "../../../api/role.ts";
import { Membership } from "../../http/model/credentials.ts";
import { Problem } from "../../http/problem.ts";
import { absent } from "../../table/entity.ts";
import { newId } from "../../table/ids.ts";
import { Member, type MemberRow, OrganizationTotals, User, UserEmail } from "./rows.ts";

interface NewMember {
  organization: { id: string; name: string };
  user: { id: string; name: string; email: string };
  role: Role;
  /** The hash of the code of the link that invites them. */
  invitation?: string | undefined;
}

/** Makes a user a member: the two rows of the membership, counted; fails for a member, and over the limit. */
export function memberWrites({ organization, user, role, invitation }: NewMember, now: Date) {
  const organizationId = organization.id;
  const { id, name, email } = user;
  const row: MemberRow = {
    id,
    organizationId,
    name,
    email,
    role,
    createdAt: now.toISOString(),
    ...(invitation && { invitation }),
  };
  const key = { userId: id, organizationId };
  return {
    row,
    membership: Membership.put(key, { ...key, organizationName: organization.name, role }, { pk: absent }),
    member: Member.put(row, row, { pk: absent }),
    totals: OrganizationTotals.update(
      { organizationId },
      { add: { members: 1, ...(role === "owner" && { owners: 1 }) } },
      { members: { is: "absentOrBelow", value: limits.membersPerOrganizationMax } },
    ),
  };
}

/**
 * Gives a member another role, if the role is still the one that was read. The write of `totals` fails for the last
 * owner, unless the operator allows the removal of the last owner.
 */
export function roleChange(member: MemberRow, role: Role, { lastOwner }: { lastOwner: "stays" | "may go" }) {
  const { organizationId, id } = member;
  const owners = Number(role === "owner") - Number(member.role === "owner");
  const when = { role: member.role };
  return {
    membership: Membership.update({ userId: id, organizationId }, { set: { role } }, when),
    member: Member.update({ organizationId, id }, { set: { role } }, when),
    totals:
      owners === 0
        ? undefined
        : OrganizationTotals.update(
            { organizationId },
            { add: { owners } },
            owners < 0 && lastOwner === "stays" ? { owners: { is: "above", value: 1 } } : undefined,
          ),
  };
}

/** A new user with the row that finds them by e-mail; that write fails if the address is another user's. */
export function newUser({ email, name }: { email: string; name: string }, now: Date) {
  const user = { id: newId("usr", now), email, name, createdAt: now.toISOString() };
  return {
    user,
    writes: {
      user: User.put(user, user, { pk: absent }),
      email: UserEmail.put({ address: addressOf(email) }, { id: user.id, email, name }, { pk: absent }),
    },
  };
}

/** An e-mail address as it is compared: without case. */
export function addressOf(email: string): string {
  return email.toLowerCase();
}

/** A member as callers see it. */
export function memberReply({ id, name, email, role, createdAt }: MemberRow): MemberReply {
  return { id, name, email, role, createdAt };
}

/** The only owner of an organization cannot leave or give up the role. */
export function lastOwner(): Problem {
  return new Problem("last_owner", "An organization keeps at least one owner. Make another member an owner first.");
}
