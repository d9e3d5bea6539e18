import { redeployBuild } from "../../api/builds.ts";
import { limits } from "../../api/limits.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, Problem } from "../http/problem.ts";
import { copyBuild, knownLive, refuseWhileRunning } from "./model/copy-build.ts";
import { redeployBlockOf } from "./model/replies.ts";
import { Build, LiveBuildCache, Lock, RedeployableBuilds } from "./model/rows.ts";

const gone = "The source archive of this build is gone. Choose another build.";

export const handler = endpoint(
  redeployBuild,
  async ({ params, access, now }, tools) => {
    const { projectId, buildId } = params;
    const { target, lock, cachedLive, redeployable } = await access.read({
      target: Build.at({ projectId, id: buildId }),
      lock: Lock.at({ projectId }),
      cachedLive: LiveBuildCache.at({ projectId }),
      redeployable: RedeployableBuilds.at({ projectId }),
    });
    if (!target) throw notFound();
    refuseWhileRunning(lock);
    const successes = redeployable?.buildIds ?? [];
    // The live build is looked up only for a build that could be redeployed.
    const own = redeployBlockOf(target, null, successes);
    const live = own === "canceled" || own === "not_successful" ? null : await knownLive(cachedLive, projectId, tools);
    const block = live ? redeployBlockOf(target, live.buildId, successes) : own;
    switch (block) {
      case "canceled":
        throw new Problem("build_canceled", "The build was canceled and cannot be redeployed.");
      case "not_successful":
        throw new Problem("build_not_successful", "The build did not finish successfully and cannot be redeployed.");
      case "live":
        throw new Problem("build_already_live", "The build is already deployed. To apply changed variables, rebuild.");
      case "outside_window":
        throw new Problem(
          "build_outside_window",
          `Only the ${limits.redeployCandidatesMax} most recent successful builds can be redeployed.`,
        );
      case null:
        return copyBuild(target, access, tools, now, gone);
    }
  },
  { exists: ({ projectId, buildId }) => ({ build: Build.at({ projectId, id: buildId }) }) },
);
