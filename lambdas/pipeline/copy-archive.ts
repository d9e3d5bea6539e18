import { archiveKey } from "../builds/model/replies.ts";
import { Build, Lock } from "../builds/model/rows.ts";
import { leaseUntil } from "../builds/model/transitions.ts";
import { BuildCanceled, BuildRejected, step } from "../http/step.ts";

/** Copies the pinned archive of the build that this one repeats, so that each build has an archive of its own. */
export const handler = step("copy-archive", async ({ deployment }, { table, archives, copies }) => {
  const { projectId, buildId, organizationId } = deployment;
  const { build } = await table.read({ build: Build.at({ projectId, id: buildId }) });
  if (build?.source.kind !== "copy" || build.canceledAt !== undefined) throw new BuildCanceled();
  await table.write({ lock: Lock.update({ projectId }, { set: { leaseUntil: leaseUntil(new Date()) } }, { buildId }) });
  const key = archiveKey({ organizationId, projectId, id: buildId });
  const earlier = await archives.find(key);
  const copied = earlier ?? (await copies.copy(build.source, key));
  if (!copied) {
    throw new BuildRejected("The original source archive is gone. Upload the source as a new build.");
  }
  return { version: copied.version, size: build.source.size };
});
