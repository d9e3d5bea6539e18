import { listDomains } from "../../api/projects.ts";
import { Addresses } from "../builds/model/rows.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { notFound } from "../http/problem.ts";
import { domainsOf } from "./model/domains.ts";

export const handler = endpoint(listDomains, async ({ params, access }) => {
  const { projectId } = params;
  const { project, row } = await access.read({
    project: Project.at({ id: projectId }),
    row: Addresses.at({ projectId }),
  });
  if (!project) throw notFound();
  return { domains: domainsOf(row, project.createdAt) };
});
