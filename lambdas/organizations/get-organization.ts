import { getOrganization } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { organizationAt, organizationReply } from "./model/organizations.ts";

export const handler = endpoint(getOrganization, async ({ params, access }) => {
  const { organization } = await access.read({ organization: organizationAt(params) });
  if (!organization) throw notFound();
  return { organization: organizationReply(organization, access.caller()) };
});
