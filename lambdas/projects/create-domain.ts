import { createDomain } from "../../api/projects.ts";
import { Addresses } from "../builds/model/rows.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { addedDomain, domainTaken } from "./model/domains.ts";

export const handler = endpoint(createDomain, async ({ params, body, access, now }) => {
  const { projectId } = params;
  const { domain } = body;
  return retryConflicts("The project's domains", async () => {
    const { project, row } = await access.read({
      project: Project.at({ id: projectId }),
      row: Addresses.at({ projectId }),
    });
    if (!project) throw notFound();
    const { added, writes } = addedDomain({ projectId, createdAt: project.createdAt, row }, domain, now);
    const reply = { domain: added };
    const outcome = await access.commit(writes, reply);
    if (outcome.ok) return reply;
    if (outcome.failed.name && !outcome.failed.addresses) throw domainTaken(domain);
    return undefined;
  });
});
