import { getBuild } from "../../api/builds.ts";
import { buildOf } from "../aws/apps.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { liveBuild } from "./model/live-build.ts";
import { isFinished, pollAfterSeconds, singleBuildReply } from "./model/replies.ts";
import { Build, LiveBuildCache } from "./model/rows.ts";

export const handler = endpoint(getBuild, async ({ params, access, now, header }, tools) => {
  const { projectId, buildId } = params;
  const { rows } = await access.read(Build.key({ projectId, id: buildId }), LiveBuildCache.key({ projectId }));
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
