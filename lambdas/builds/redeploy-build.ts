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
    const { rows } = await access.read(
      Build.key({ projectId, id: buildId }),
      Lock.key({ projectId }),
      LiveBuildCache.key({ projectId }),
      RedeployableBuilds.key({ projectId }),
    );
    const target = Build.maybe(rows[0]);
    if (!target) throw notFound();
    refuseWhileRunning(rows[1]);
    const successes = RedeployableBuilds.maybe(rows[3])?.buildIds ?? [];
    // What is live matters only to a build that could be redeployed at all.
    const settled = redeployBlockOf(target, null, successes);
    const live =
      settled === "canceled" || settled === "not_successful" ? null : await knownLive(rows[2], projectId, tools);
    const block = live ? redeployBlockOf(target, live.buildId, successes) : settled;
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
  { exists: ({ projectId, buildId }) => [Build.key({ projectId, id: buildId })] },
);
