import type { ReleaseStopper } from "../../aws/release-tasks.ts";
import { Build, Lock } from "../../builds/model/rows.ts";
import { type BuildKey, endError } from "../../builds/model/transitions.ts";
import type { TableWriter } from "../../table/writer.ts";
import { rollbackSentence } from "./health.ts";
import { type RestoreTools, restoreRevision } from "./restore-revision.ts";

const reason = "The deployment was interrupted on our side. Please create the build again.";

/** A canceled build keeps its status (docs/api.md, Build states), because the interruption is not its own failure. */
async function free({ projectId, buildId }: BuildKey, table: TableWriter): Promise<void> {
  await table.write({ lock: Lock.delete({ projectId }, { buildId }) });
}

/** Stops a release command, restores the previous version and ends a build whose execution is over; does nothing more if the build has ended. */
export async function endOrphanedBuild(
  key: BuildKey,
  tools: RestoreTools & { releases: ReleaseStopper },
): Promise<void> {
  await tools.releases.stop(key.buildId);
  const { build } = await tools.table.read({ build: Build.at({ projectId: key.projectId, id: key.buildId }) });
  if (build?.canceledAt !== undefined) return free(key, tools.table);
  if (build?.status !== "deploying") return endError(tools.table, key, reason, new Date());
  const previous = build.previous ?? null;
  // Lambda does not end a function when its execution is aborted.
  if (!(await restoreRevision(build, tools, { mayBeStarting: true })))
    throw new Error("The previous version is not confirmed yet");
  const live = { buildId: previous?.buildId ?? null };
  return endError(tools.table, key, `${rollbackSentence(previous !== null)} ${reason}`, new Date(), live);
}
