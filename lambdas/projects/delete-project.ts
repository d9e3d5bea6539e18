import { deleteProject } from "../../api/projects.ts";
import { Addresses, Build, Lock } from "../builds/model/rows.ts";
import { endpoint } from "../http/endpoint.ts";
import { errorFields, log } from "../http/log.ts";
import { ProjectKeys } from "../http/model/credentials.ts";
import { Project } from "../http/model/project.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { newRemoval } from "../removals/model/removal.ts";
import { checkConfirmed, startRemoval } from "../removals/model/start-removal.ts";
import { deletionOf } from "./model/deletion.ts";

/** The project is gone with the transaction, its app when this answers; an execution removes the rest (ADR 0016). */
export const handler = endpoint(deleteProject, async ({ params, query, access, now }, tools) => {
  const { orgId: organizationId, projectId: id } = params;
  return retryConflicts("The project", async () => {
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
    if (!outcome.ok) return undefined;
    const [stopped] = await Promise.allSettled([tools.appRemover.remove(id), startRemoval(row, tools.removals)]);
    if (stopped.status === "rejected")
      log("error", "The removal has to stop the app", { id, ...errorFields(stopped.reason) });
    return { project: id };
  });
});
