import { isId } from "../../api/ids.ts";
import { limits } from "../../api/limits.ts";
import { listMembers } from "../../api/members.ts";
import { endpoint } from "../http/endpoint.ts";
import { memberReply } from "../organizations/model/members.ts";
import { Member } from "../organizations/model/rows.ts";

export const handler = endpoint(listMembers, async ({ params, access }, { table }) => {
  const organizationId = isId("org", params.orgId) ? params.orgId : "none";
  const [, page] = await Promise.all([
    access.read(),
    table.list(Member.list({ organizationId }, { limit: limits.membersPerOrganizationMax })),
  ]);
  const members = page.rows.map(memberReply);
  return { members: members.sort((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt)) };
});
