import { limits } from "../../api/limits.ts";
import { masker } from "../builds/model/mask.ts";
import { Build } from "../builds/model/rows.ts";
import { endError } from "../builds/model/transitions.ts";
import { Variable } from "../environments/model/rows.ts";
import { step } from "../http/step.ts";
import { buildFailedReason, caughtReason, failedBuildLog, uploadMissing } from "./model/failures.ts";

/** A failure before anything was swapped: the build ends as `error` with a reason, and the project is free. */
export const handler = step("fail-build", async ({ deployment, error }, { table, logs }) => {
  const { projectId, buildId } = deployment;
  const id = { projectId, id: buildId };
  const [item] = await table.get([Build.key(id)]);
  const build = Build.maybe(item);
  const stream = failedBuildLog(error);
  // A canceled build becomes `error` when it would have failed anyway (SPEC §3 rule 1), not by an hour's wait or our faults.
  const isOwnFault = stream !== undefined || error.Error === "BuildRejected";
  if (build?.canceledAt !== undefined && !isOwnFault) return {};
  const neverUploaded =
    build?.status === "pending" && build.source.kind === "upload" && error.Error === "States.Timeout";
  let reason = neverUploaded ? uploadMissing : caughtReason(error);
  if (stream !== undefined) {
    const [lines, variables] = await Promise.all([
      logs.tail("build", stream, 30),
      table.query({ pk: `PRJ#${projectId}`, prefix: "ENV#", limit: limits.variablesPerProjectMax }),
    ]);
    const mask = masker(variables.items.map((row) => Variable.read(row).value));
    reason = buildFailedReason(lines.map((line) => mask(line.text)));
    await table.write([Build.update(id, { set: { buildLog: stream } })]);
  }
  await endError(table, deployment, reason, new Date());
  return {};
});
