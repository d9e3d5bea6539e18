import { createProject } from "../../api/projects.ts";
import { endpoint } from "../http/endpoint.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { newProject, projectReply } from "./model/project.ts";

export const handler = endpoint(createProject, async ({ params, body, access, now }) => {
  const { row, writes } = newProject({ organizationId: params.orgId, ...body }, now);
  const reply = { project: projectReply(row) };
  const outcome = await access.commit(writes, reply);
  if (!outcome.ok) throw limitReached("projects");
  return reply;
});
