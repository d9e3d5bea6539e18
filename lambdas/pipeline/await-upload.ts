import { archiveKey } from "../builds/model/replies.ts";
import { Build, Lock } from "../builds/model/rows.ts";
import { leaseUntil } from "../builds/model/transitions.ts";
import { BuildCanceled, step } from "../http/step.ts";
import { absent } from "../table/entity.ts";

/** Longer than the wait itself, so that reconcile-locks does not touch a waiting build. */
const uploadLeaseSeconds = 4_000;

/**
 * Stores the task token with the build, and only then looks for the upload. The event of an earlier upload found no token, so
 * it is found here; the event of a later upload finds the token.
 */
export const handler = step("await-upload", async ({ deployment, taskToken }, { table, archives, waiting }) => {
  const { projectId, buildId, organizationId } = deployment;
  const id = { projectId, id: buildId };
  const outcome = await table.write({
    build: Build.update(id, { set: { uploadToken: taskToken } }, { status: "pending", canceledAt: absent }),
    lock: Lock.update({ projectId }, { set: { leaseUntil: leaseUntil(new Date(), uploadLeaseSeconds) } }, { buildId }),
  });
  if (!outcome.ok) throw new BuildCanceled();
  const found = await archives.find(archiveKey({ organizationId, projectId, id: buildId }));
  if (found) await waiting.succeed(taskToken, found);
  return {};
});
