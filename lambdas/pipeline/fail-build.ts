import { buildMask } from "../builds/model/build-mask.ts";
import { Build } from "../builds/model/rows.ts";
import { endError } from "../builds/model/transitions.ts";
import { step } from "../http/step.ts";
import { buildFailedReason, caughtReason, detectedSentence, failedBuildLog, uploadMissing } from "./model/failures.ts";
import { setOnBuild } from "./model/set-on-build.ts";

/** The first error may be far from the end of the output. */
const linesRead = 2_000;

/** A failure before the swap: the build ends as `error` with a reason, and the project's lock is released. */
export const handler = step("fail-build", async ({ deployment, error }, { table, logs, values, releases }) => {
  const { projectId, buildId } = deployment;
  const id = { projectId, id: buildId };
  const { build } = await table.read({ build: Build.at(id) });
  // After a time-out or a fault of the service the command still runs, and nothing would read how it ends.
  if (build?.releaseDefinition !== undefined) await releases.stop(buildId);
  const stream = failedBuildLog(error);
  // A canceled build becomes `error` if it would have failed anyway (docs/api.md, Build states), but not because of a
  // missing upload or an error of the service.
  const isOwnFault = stream !== undefined || error.Error === "BuildRejected";
  if (build?.canceledAt !== undefined && !isOwnFault) return {};
  const neverUploaded =
    build?.status === "pending" && build.source.kind === "upload" && error.Error === "States.Timeout";
  let reason = neverUploaded ? uploadMissing : caughtReason(error);
  if (stream !== undefined) {
    const [lines, mask] = await Promise.all([logs.tail("build", stream, linesRead), buildMask(id, { table, values })]);
    reason = buildFailedReason(
      lines.map((line) => mask(line.text)),
      build && detectedSentence(build),
    );
    await setOnBuild(table, id, { buildLog: stream });
  }
  await endError(table, deployment, reason, new Date());
  return {};
});
