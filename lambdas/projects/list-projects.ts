import { isId } from "../../api/ids.ts";
import { listProjects } from "../../api/projects.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { ProjectEntry } from "../http/model/project.ts";
import { invalid, notFound } from "../http/problem.ts";
import { organizationAt } from "../organizations/model/organizations.ts";
import { projectReply } from "./model/project.ts";

export const handler = endpoint(listProjects, async ({ params, query, access }, { table }) => {
  const organizationId = isId("org", params.orgId) ? params.orgId : "none";
  const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
  const readable = position === undefined || isId("prj", position);
  const after = readable ? position : undefined;
  const [{ organization }, page] = await Promise.all([
    access.read({ organization: organizationAt(params) }),
    table.list(ProjectEntry.list({ organizationId }, { limit: query.limit, newestFirst: true, after })),
  ]);
  if (!organization) throw notFound();
  const list = `projects:${organizationId}`;
  const secret = organization.secret ?? organization.createdAt;
  if (query.cursor !== undefined && !(readable && isGenuine(secret, list, query.cursor))) {
    throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
  }
  const last = page.rows.at(-1);
  return {
    projects: page.rows.map(projectReply),
    nextCursor: page.more && last ? sealCursor(secret, list, last.id) : null,
  };
});
