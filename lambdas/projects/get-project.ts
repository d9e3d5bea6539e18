import { getProject } from "../../api/projects.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { notFound } from "../http/problem.ts";
import { projectReply } from "./model/project.ts";

export const handler = endpoint(getProject, async ({ params, access }) => {
  const { project } = await access.read({ project: Project.at({ id: params.projectId }) });
  if (!project) throw notFound();
  return { project: projectReply(project) };
});
