import { isFinished } from "../builds/model/replies.ts";
import { Build } from "../builds/model/rows.ts";
import { endError } from "../builds/model/transitions.ts";
import { step } from "../http/step.ts";
import { caughtReason } from "./model/failures.ts";
import { rollbackSentence } from "./model/health.ts";
import { restoreRevision } from "./model/restore-revision.ts";

/** Confirms that the previous version serves again, before the build ends and the project's lock is released. */
export const handler = step("roll-back", async ({ deployment, reason, error }, tools) => {
  const { projectId, buildId } = deployment;
  const { build } = await tools.table.read({ build: Build.at({ projectId, id: buildId }) });
  if (!build || isFinished(build)) return { done: true };
  const because = reason ?? (error ? caughtReason(error) : "");
  if (build.status !== "deploying") {
    await endError(tools.table, deployment, because, new Date());
    return { done: true };
  }
  const previous = build.previous ?? null;
  if (!(await restoreRevision(build, tools))) return { done: false };
  const text = `${rollbackSentence(previous !== null)} ${because}`.trim();
  await endError(tools.table, deployment, text, new Date(), { buildId: previous?.buildId ?? null });
  return { done: true };
});
