import { cancelBuild } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, Problem, unavailable } from "../http/problem.ts";
import { absent } from "../table/entity.ts";
import { canceledBuildReply } from "./model/replies.ts";
import { Build, type BuildRow, Lock } from "./model/rows.ts";

const triesMax = 5;

/** SPEC §3: `deploying` and finished builds refuse; what was canceled before answers as it is. */
function refusal(build: BuildRow): Problem | undefined {
  switch (build.status) {
    case "deploying":
      return new Problem("build_deploying", "The build is being swapped in and checked; it can no longer be canceled.");
    case "ready":
    case "error":
      return new Problem("build_finished", "The build is finished and cannot be canceled.");
    case "pending":
    case "analyzing":
    case "building":
      return undefined;
  }
}

export const handler = endpoint(
  cancelBuild,
  async ({ params, access, now }) => {
    const { projectId, buildId } = params;
    const id = { projectId, id: buildId };
    let { rows } = await access.read(Build.key(id));
    let holdsLock = true;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const build = Build.maybe(rows[0]);
      if (!build) throw notFound();
      if (build.canceledAt !== undefined) return { build: canceledBuildReply(build) };
      const refused = refusal(build);
      if (refused) throw refused;
      const canceledAt = now.toISOString();
      const canceled: BuildRow = { ...build, canceledAt, updatedAt: canceledAt };
      const reply = { build: canceledBuildReply(canceled) };
      const outcome = await access.commit(
        [
          Build.update(
            id,
            { set: { canceledAt, updatedAt: canceledAt }, remove: ["uploadToken"] },
            { status: build.status, canceledAt: absent },
          ),
          ...(holdsLock ? [Lock.delete({ projectId }, { buildId })] : []),
        ],
        reply,
      );
      if (outcome.ok) return reply;
      holdsLock = !outcome.failed.has(1);
      ({ rows } = await access.read(Build.key(id)));
    }
    throw unavailable(new Error("The cancel kept losing to the build's own progress"));
  },
  { exists: ({ projectId, buildId }) => [Build.key({ projectId, id: buildId })] },
);
