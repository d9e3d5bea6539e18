import { getBuild } from "../../api/builds.ts";
import { liveBuild } from "../data/live.ts";
import { Build, Live } from "../data/rows.ts";
import { isFinished, pollAfterSeconds, singleBuildReply } from "../domain/builds.ts";
import { endpoint } from "../kit/endpoint.ts";
import { notFound } from "../kit/problem.ts";
import { buildOf } from "../kit/tools/apps.ts";

export const handler = endpoint(getBuild, async ({ params, access, now, header }, tools) => {
  const { projectId, buildId } = params;
  const { rows } = await access.read(Build.key({ projectId, id: buildId }), Live.key({ projectId }));
  const build = Build.maybe(rows[0]);
  if (!build) throw notFound();
  if (!isFinished(build)) {
    header("retry-after", String(pollAfterSeconds(build.createdAt, now)));
    return { build: singleBuildReply(build, undefined) };
  }
  const live =
    build.status === "ready" || build.status === "error"
      ? await liveBuild(rows[1], projectId, tools, buildOf)
      : undefined;
  return { build: singleBuildReply(build, live?.buildId) };
});
