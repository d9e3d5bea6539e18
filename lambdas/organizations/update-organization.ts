import { updateOrganization } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";
import { organizationAt, organizationReply } from "./model/organizations.ts";
import { Organization } from "./model/rows.ts";

export const handler = endpoint(updateOrganization, async ({ params, body, access }) => {
  const { organization } = await access.read({ organization: organizationAt(params) });
  if (!organization) throw notFound();
  const { name } = body;
  const outcome = await access.commit({
    organization: Organization.update({ id: organization.id }, { set: { name } }, { pk: present }),
  });
  if (!outcome.ok) throw notFound();
  return { organization: organizationReply({ id: organization.id, name }, access.caller()) };
});
