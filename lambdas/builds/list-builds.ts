import { listBuilds } from "../../api/builds.ts";
import { isId } from "../../api/ids.ts";
import { limits } from "../../api/limits.ts";
import { buildOf } from "../aws/apps.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid } from "../http/problem.ts";
import { liveBuild } from "./model/live-build.ts";
import { listedBuildReply } from "./model/replies.ts";
import { Build, LiveBuildCache, RedeployableBuilds } from "./model/rows.ts";

export const handler = endpoint(listBuilds, async ({ params, query, access }, tools) => {
  const { projectId } = params;
  const list = `builds:${projectId}`;
  const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
  const readable = position === undefined || isId("bld", position);
  const [{ project, rows }, page] = await Promise.all([
    access.read(LiveBuildCache.key({ projectId }), RedeployableBuilds.key({ projectId })),
    tools.table.query({
      pk: `PRJ#${projectId}`,
      prefix: "BLD#",
      limit: query.limit,
      newestFirst: true,
      ...(position !== undefined && readable && { after: `BLD#${position}` }),
    }),
  ]);
  const secret = project?.secret ?? "";
  if (query.cursor !== undefined && !(readable && isGenuine(secret, list, query.cursor))) {
    throw invalid([{ path: "cursor", message: "must be a cursor that this list gave out" }]);
  }
  const live = await liveBuild(rows[0], projectId, tools, buildOf);
  const successes = RedeployableBuilds.maybe(rows[1])?.buildIds ?? [];
  const builds = page.items.map(Build.read);
  const last = builds.at(-1);
  return {
    builds: builds.map((build) => listedBuildReply(build, live, successes)),
    nextCursor: page.more && last ? sealCursor(secret, list, last.id) : null,
    redeployAvailability: live
      ? { status: "available" as const }
      : { status: "temporarily_unavailable" as const, retryAfter: limits.liveCacheSeconds },
  };
});
