import { deleteDomain } from "../../api/projects.ts";
import { Addresses } from "../builds/model/rows.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import type { Item } from "../table/entity.ts";
import { removedDomain } from "./model/domains.ts";

/** The project's addresses, if the domain that the path names is among them. */
function addressesWith({ projectId, domain }: { projectId: string; domain: string }) {
  const { key, read } = Addresses.at({ projectId });
  return {
    key,
    read(item: Item) {
      const row = read(item);
      return Object.hasOwn(row.domains, domain.toLowerCase()) ? row : undefined;
    },
  };
}

export const handler = endpoint(
  deleteDomain,
  async ({ params, access }) => {
    const { projectId } = params;
    const domain = params.domain.toLowerCase();
    return retryConflicts("The project's domains", async () => {
      const { project, row } = await access.read({
        project: Project.at({ id: projectId }),
        row: Addresses.at({ projectId }),
      });
      if (!project) throw notFound();
      const writes = removedDomain({ projectId, createdAt: project.createdAt, row }, domain);
      if ((await access.commit(writes)).ok) return { domain };
      return undefined;
    });
  },
  { exists: (params) => ({ addresses: addressesWith(params) }) },
);
