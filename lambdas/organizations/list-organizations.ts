import { listOrganizations } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { Membership } from "../http/model/credentials.ts";
import { Organization } from "./model/rows.ts";

/** More organizations than any user has; the answer is not paged (docs/api.md, Service checks). */
const organizationsMax = 1000;

export const handler = endpoint(listOrganizations, async ({ access, credential }, { table }) => {
  if (credential.kind === "token") {
    const [, memberships] = await Promise.all([
      access.read(),
      table.list(Membership.list({ userId: credential.userId }, { limit: organizationsMax })),
    ]);
    const caller = access.caller();
    const only = caller.kind === "user" ? caller.bounds.organizationIds : undefined;
    const reached = memberships.rows.filter(({ organizationId }) => only?.includes(organizationId) ?? true);
    return {
      organizations: reached.map(({ organizationId: id, organizationName: name, role }) => ({
        id,
        name,
        role,
      })),
    };
  }
  const { organization } = await access.read({ organization: Organization.at({ id: credential.organizationId }) });
  return { organizations: organization ? [{ id: organization.id, name: organization.name, role: null }] : [] };
});
