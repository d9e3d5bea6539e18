import { limits } from "../../../api/limits.ts";
import type { Role } from "../../../api/role.ts";
import { Membership } from "../../http/model/credentials.ts";
import { absent } from "../../table/entity.ts";
import { Member, type MemberRow, OrganizationTotals } from "./rows.ts";

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
  const row = {
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
 * owner, unless the operator says that the last owner may go.
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
