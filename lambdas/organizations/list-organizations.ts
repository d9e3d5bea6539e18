import { listOrganizations } from "../../api/organizations.ts";
import { Membership, Organization } from "../table/rows.ts";
import { endpoint } from "../http/endpoint.ts";

/** More organizations than any user has; the answer is not paged (SPEC §4). */
const organizationsMax = 1000;

export const handler = endpoint(listOrganizations, async ({ access, claim }, { table }) => {
  if (claim.kind === "token") {
    const [, memberships] = await Promise.all([
      access.read(),
      table.query({ pk: `USR#${claim.userId}`, prefix: "MEM#", limit: organizationsMax }),
    ]);
    const organizations = memberships.items
      .map(Membership.read)
      .map((row) => ({ id: row.organizationId, name: row.organizationName, role: row.role }));
    return { organizations };
  }
  const { rows } = await access.read(Organization.key({ id: claim.organizationId }));
  const organization = Organization.maybe(rows[0]);
  return { organizations: organization ? [{ id: organization.id, name: organization.name, role: null }] : [] };
});
