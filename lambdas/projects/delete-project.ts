import { deleteProject } from "../../api/projects.ts";
import { Addresses, Build, Lock } from "../builds/model/rows.ts";
import { endpoint } from "../http/endpoint.ts";
import { errorFields, log } from "../http/log.ts";
import { ProjectKeys } from "../http/model/credentials.ts";
import { Project } from "../http/model/project.ts";
import { notFound, unavailable } from "../http/problem.ts";
import { newRemoval } from "../removals/model/removal.ts";
import { checkConfirmed, startRemoval } from "../removals/model/start-removal.ts";
import { deletionOf } from "./model/deletion.ts";

const triesMax = 8;

/** The project is gone with the transaction, its app when this answers; an execution removes the rest (ADR 0016). */
export const handler = endpoint(deleteProject, async ({ params, query, access, now }, tools) => {
  const { orgId: organizationId, projectId: id } = params;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { project, keys, addresses, lock } = await access.read({
      project: Project.at({ id }),
      keys: ProjectKeys.at({ projectId: id }),
      addresses: Addresses.at({ projectId: id }),
      lock: Lock.at({ projectId: id }),
    });
    if (!project) throw notFound();
    checkConfirmed(query.confirm, project);
    const buildId = lock?.buildId ?? null;
    const { build } = await tools.table.read({
      build: buildId === null ? undefined : Build.at({ projectId: id, id: buildId }),
    });
    const { row, write } = newRemoval(
      { kind: "project", id, organizationId, buildId },
      tools.removals.settleSeconds,
      now,
    );
    const deletion = deletionOf({ project, keys, addresses, lock, build }, now);
    const outcome = await access.commit({ ...deletion, removal: write });
    if (!outcome.ok) continue;
    const [stopped] = await Promise.allSettled([tools.appRemover.remove(id), startRemoval(row, tools.removals)]);
    if (stopped.status === "rejected")
      log("error", "The removal has to stop the app", { id, ...errorFields(stopped.reason) });
    return { project: id };
  }
  throw unavailable(new Error("The project kept changing"));
});
