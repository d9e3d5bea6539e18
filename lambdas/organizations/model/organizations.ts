import { isId } from "../../../api/ids.ts";
import type { OrganizationReply } from "../../../api/organizations.ts";
import type { ReadAccess } from "../../http/access.ts";
import { Membership } from "../../http/model/credentials.ts";
import { type PresentedCredential, userOf } from "../../http/presented-credential.ts";
import type { Caller } from "../../http/proof.ts";
import { absent } from "../../table/entity.ts";
import { newId, randomText } from "../../table/ids.ts";
import type { Places, TableReader } from "../../table/reader.ts";
import { Organization } from "./rows.ts";

/** More organizations than any user has; the answer is not paged (docs/api.md, Service checks). */
const organizationsMax = 1000;

/** A new organization without members. */
export function newOrganization(name: string, now: Date) {
  const row = { id: newId("org", now), name, secret: randomText(32), createdAt: now.toISOString() };
  return { row, write: Organization.put(row, row, { pk: absent }) };
}

/**
 * The organization of a key, or all of a user that the token is for; proves the caller, and reads these rows with it.
 * The names of a user's organizations take a second read, because they can change.
 */
export async function organizationsOf<const P extends Places>(
  call: { access: ReadAccess; credential: PresentedCredential },
  table: TableReader,
  places?: P,
) {
  const { access, credential } = call;
  const userId = userOf(credential);
  const own = "organizationId" in credential ? Organization.at({ id: credential.organizationId }) : undefined;
  const [rows, memberships] = await Promise.all([
    access.read({ ...places, "own:organization": own } as P & { "own:organization": typeof own }),
    userId === undefined ? undefined : table.list(Membership.list({ userId }, { limit: organizationsMax })),
  ]);
  const caller = access.caller();
  if (caller.kind === "organization") {
    const organization = rows["own:organization"];
    const organizations: OrganizationReply[] = organization
      ? [{ id: organization.id, name: organization.name, role: null }]
      : [];
    return { rows, organizations };
  }
  const { organizationIds } = caller.bounds;
  const reached = (memberships?.rows ?? []).filter(
    ({ organizationId }) => organizationIds?.includes(organizationId) ?? true,
  );
  const named = await table.read(
    Object.fromEntries(reached.map(({ organizationId: id }) => [id, Organization.at({ id })])),
  );
  const organizations = reached.map(
    ({ organizationId: id, organizationName, role }): OrganizationReply => ({
      id,
      name: named[id]?.name ?? organizationName,
      role,
    }),
  );
  return { rows, organizations };
}

/** The place of the organization in the path; `none` is the place of no row. */
export function organizationAt({ orgId }: { orgId: string }) {
  return Organization.at({ id: isId("org", orgId) ? orgId : "none" });
}

/** An organization as its caller sees it: keys have no role. */
export function organizationReply({ id, name }: { id: string; name: string }, caller: Caller): OrganizationReply {
  return { id, name, role: caller.kind === "user" ? (caller.role ?? null) : null };
}
