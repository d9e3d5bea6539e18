import type { DeploymentStarter } from "../../aws/deployments.ts";
import type { Access } from "../../http/access.ts";
import { errorFields, log } from "../../http/log.ts";
import { Problem } from "../../http/problem.ts";
import type { BuildRow, LockRow } from "./rows.ts";
import type { BuildWrites } from "./transitions.ts";

/** The 409 with the build that holds the project's lock (docs/api.md, Build states). */
export function buildInProgress(lock: Pick<LockRow, "buildId" | "status" | "createdAt">): Problem {
  return new Problem(
    "build_in_progress",
    "A build is already in progress for this project. Poll it and retry when it is done.",
    {
      fields: { build: { id: lock.buildId, status: lock.status, createdAt: lock.createdAt } },
    },
  );
}

/**
 * Takes the project's lock, stores the build and starts its execution. A build whose start failed or never happened is
 * started by reconcile-locks, which finds it through the lock.
 */
export async function startBuild(start: {
  row: BuildRow;
  writes: BuildWrites;
  access: Access;
  tools: { deployments: DeploymentStarter };
  remember: unknown;
}): Promise<void> {
  const { row, writes, access, tools, remember } = start;
  const outcome = await access.commit(writes, remember);
  if (!outcome.ok) {
    const lock = outcome.failed.lock?.old;
    if (lock) throw buildInProgress(lock);
    throw new Error("A build was refused without a lock in its way");
  }
  const { organizationId, projectId, id: buildId, source } = row;
  await tools.deployments
    .start({ organizationId, projectId, buildId, source: source.kind })
    .catch((error) =>
      log("error", "The execution was not started; reconcile-locks will start it", { buildId, ...errorFields(error) }),
    );
}
