import { cancelBuild } from "../../api/builds.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, Problem } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { absent, type Delete, type Update } from "../table/entity.ts";
import type { Outcome } from "../table/writer.ts";
import { canceledBuildReply } from "./model/replies.ts";
import { Build, type BuildRow, Lock, type LockRow } from "./model/rows.ts";

type CancelWrites = { build: Update<BuildRow>; lock: Delete<LockRow> | undefined };

/** Builds that are deploying or finished cannot be canceled. */
function refusal(build: BuildRow): Problem | undefined {
  switch (build.status) {
    case "deploying":
      return new Problem("build_deploying", "The build is being deployed and checked; it can no longer be canceled.");
    case "ready":
    case "error":
      return new Problem("build_finished", "The build is finished and cannot be canceled.");
    case "pending":
    case "analyzing":
    case "building":
      return undefined;
  }
}

/** Marks the build as canceled and, if it still holds the project's lock, releases the lock. */
function cancelWrites({ id, projectId, status }: BuildRow, canceledAt: string, holdsLock: boolean): CancelWrites {
  return {
    build: Build.update(
      { projectId, id },
      { set: { canceledAt, updatedAt: canceledAt }, remove: ["uploadToken"] },
      { status, canceledAt: absent },
    ),
    lock: holdsLock ? Lock.delete({ projectId }, { buildId: id }) : undefined,
  };
}

export const handler = endpoint(
  cancelBuild,
  async ({ params, access, now }) => {
    const { projectId, buildId } = params;
    const id = { projectId, id: buildId };
    let holdsLock = true;
    return retryConflicts("The build", async () => {
      const { build } = await access.read({ build: Build.at(id) });
      if (!build) throw notFound();
      if (build.canceledAt !== undefined) return { build: canceledBuildReply(build) };
      const refused = refusal(build);
      if (refused) throw refused;
      const canceledAt = now.toISOString();
      const canceled: BuildRow = { ...build, canceledAt, updatedAt: canceledAt };
      const reply = { build: canceledBuildReply(canceled) };
      const outcome: Outcome<CancelWrites> = await access.commit(cancelWrites(build, canceledAt, holdsLock), reply);
      if (outcome.ok) return reply;
      holdsLock = !outcome.failed.lock;
      return undefined;
    });
  },
  { exists: ({ projectId, buildId }) => ({ build: Build.at({ projectId, id: buildId }) }) },
);
