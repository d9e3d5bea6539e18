import { rebuild } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { Problem } from "../http/problem.ts";
import { copyBuild, knownLive, refuseWhileRunning } from "./model/copy-build.ts";
import { Build, LiveBuildCache, Lock } from "./model/rows.ts";

const gone = "The source archive of the deployed build is gone. Upload the source as a new build.";

export const handler = endpoint(rebuild, async ({ params, access, now }, tools) => {
  const { projectId } = params;
  const { lock, cachedLive } = await access.read({
    lock: Lock.at({ projectId }),
    cachedLive: LiveBuildCache.at({ projectId }),
  });
  refuseWhileRunning(lock);
  const { buildId: id } = await knownLive(cachedLive, projectId, tools);
  const { deployed } = await tools.table.read({ deployed: id === null ? undefined : Build.at({ projectId, id }) });
  if (!deployed) {
    throw new Problem("never_deployed", "The project has no successful deployment to rebuild. Create a build first.");
  }
  if (deployed.status !== "ready") {
    throw new Problem(
      "deployed_build_not_successful",
      "The deployed build did not finish successfully. Create a new build.",
    );
  }
  return copyBuild(deployed, access, tools, now, gone);
});
