import { listOrganizations } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { Membership } from "../http/model/credentials.ts";
import { Organization } from "./model/rows.ts";

/** More organizations than any user has; the answer is not paged (SPEC §4). */
const organizationsMax = 1000;

export const handler = endpoint(listOrganizations, async ({ access, credential }, { table }) => {
  if (credential.kind === "token") {
    const [, memberships] = await Promise.all([
      access.read(),
      table.query({ pk: `USR#${credential.userId}`, prefix: "MEM#", limit: organizationsMax }),
    ]);
    const organizations = memberships.items
      .map(Membership.read)
      .map((row) => ({ id: row.organizationId, name: row.organizationName, role: row.role }));
    return { organizations };
  }
  const { rows } = await access.read(Organization.key({ id: credential.organizationId }));
  const organization = Organization.maybe(rows[0]);
  return { organizations: organization ? [{ id: organization.id, name: organization.name, role: null }] : [] };
});
