import { getBuild } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { crashMessage } from "./model/crashes.ts";
import { liveBuild } from "./model/live-build.ts";
import { isFinished, pollAfterSeconds, singleBuildReply } from "./model/replies.ts";
import { Build, LiveBuildCache } from "./model/rows.ts";

/** What a poll of a running build does not need: only a finished build can be live, and few live builds crash. */
const seldom = ["apps:read", "apps:exits", "build-values:read", "logs:read"] as const;

export const handler = endpoint(
  getBuild,
  async ({ params, access, now, header }, tools) => {
    const { projectId, buildId } = params;
    const { build, cachedLive } = await access.read({
      build: Build.at({ projectId, id: buildId }),
      cachedLive: LiveBuildCache.at({ projectId }),
    });
    if (!build) throw notFound();
    if (!isFinished(build)) {
      header("retry-after", String(pollAfterSeconds(build.createdAt, now)));
      return { build: singleBuildReply(build, undefined) };
    }
    const isEnded = build.status === "ready" || build.status === "error";
    const live = isEnded ? await liveBuild(cachedLive, projectId, tools) : undefined;
    const isLive = live?.buildId === build.id;
    const crashes = isLive ? await crashMessage(build, cachedLive, now, tools) : null;
    return { build: singleBuildReply(build, live?.buildId, crashes) };
  },
  { seldom },
);
