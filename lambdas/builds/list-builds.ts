import { listBuilds } from "../../api/builds.ts";
import { isId } from "../../api/ids.ts";
import { limits } from "../../api/limits.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { invalid, notFound } from "../http/problem.ts";
import { liveBuild } from "./model/live-build.ts";
import { listedBuildReply } from "./model/replies.ts";
import { Build, LiveBuildCache, RedeployableBuilds } from "./model/rows.ts";

export const handler = endpoint(listBuilds, async ({ params, query, access }, tools) => {
  const { projectId } = params;
  const list = `builds:${projectId}`;
  const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
  const readable = position === undefined || isId("bld", position);
  const after = readable ? position : undefined;
  const [{ project, cachedLive, redeployable }, page] = await Promise.all([
    access.read({
      project: Project.at({ id: projectId }),
      cachedLive: LiveBuildCache.at({ projectId }),
      redeployable: RedeployableBuilds.at({ projectId }),
    }),
    tools.table.list(Build.list({ projectId }, { limit: query.limit, newestFirst: true, after })),
  ]);
  if (!project) throw notFound();
  if (query.cursor !== undefined && !(readable && isGenuine(project.secret, list, query.cursor))) {
    throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
  }
  const live = await liveBuild(cachedLive, projectId, tools);
  const successes = redeployable?.buildIds ?? [];
  const last = page.rows.at(-1);
  return {
    builds: page.rows.map((build) => listedBuildReply(build, live, successes)),
    nextCursor: page.more && last ? sealCursor(project.secret, list, last.id) : null,
    redeployAvailability: live
      ? { status: "available" as const }
      : { status: "temporarily_unavailable" as const, retryAfter: limits.liveCacheSeconds },
  };
});
