import { listAppLogs } from "../../api/app-output.ts";
import { limits } from "../../api/limits.ts";
import { endpoint } from "../http/endpoint.ts";
import { lateValidation, validate } from "../http/late-validation.ts";
import { Project } from "../http/model/project.ts";
import { invalid, notFound } from "../http/problem.ts";
import { buildMask } from "./model/build-mask.ts";
import { claimedOutputCursor, isGenuineOutputCursor, sealOutputCursor } from "./model/output-cursor.ts";
import { readOutput } from "./model/read-output.ts";
import { Build } from "./model/rows.ts";

const keptMs = limits.outputKeptDays * 24 * 3_600_000;

/** Filters of the request, or those that its cursor was made with. */
function filtersOf(
  query: { since?: string | undefined; buildId?: string | undefined; text?: string | undefined },
  cursor: { since?: string | undefined; buildId?: string | undefined; text?: string | undefined } | undefined,
) {
  const since = query.since ?? cursor?.since;
  const buildId = query.buildId ?? cursor?.buildId;
  const text = query.text ?? cursor?.text;
  return { ...(since && { since }), ...(buildId && { buildId }), ...(text && { text }) };
}

export const handler = endpoint(lateValidation(listAppLogs), async (call, { table, values, output }) => {
  const { params, access, now } = call;
  const { projectId } = params;
  const { query } = await validate(listAppLogs, call, async () => {
    const { buildId } = call.query;
    const { build } = await access.read({
      build: typeof buildId === "string" ? Build.at({ projectId, id: buildId }) : undefined,
    });
    if (buildId !== undefined && !build) throw notFound();
  });
  const claimed = query.cursor === undefined ? undefined : claimedOutputCursor(query.cursor);
  const filters = filtersOf(query, claimed);
  const { project, build } = await access.read({
    project: Project.at({ id: projectId }),
    build: filters.buildId === undefined ? undefined : Build.at({ projectId, id: filters.buildId }),
  });
  if (!project || (filters.buildId !== undefined && !build)) throw notFound();
  if (query.cursor !== undefined && !(claimed && isGenuineOutputCursor(project, query.cursor))) {
    throw invalid([{ path: "cursor", message: "must be a cursor that this list gave out" }]);
  }
  const isFollowing = claimed?.direction === "follow";
  const to = Math.max(output.settledUntil(now), claimed?.head.at ?? 0);
  const kept = now.getTime() - keptMs;
  const page = await readOutput(
    {
      projectId,
      buildId: filters.buildId,
      text: filters.text,
      newestFirst: !isFollowing,
      from: filters.since === undefined ? kept : Math.max(Date.parse(filters.since), kept),
      to: claimed && !isFollowing ? claimed.head.at : to,
      position: claimed?.position,
      limit: query.limit,
    },
    (buildId) => buildMask({ projectId, id: buildId }, { table, values }),
    output,
  );
  const start = claimed?.head ?? { at: to, skip: 0 };
  const reached = page.isAtEnd ? { at: to, skip: 0 } : (page.position ?? start);
  const head = isFollowing ? reached : start;
  const lines = isFollowing ? page.lines : page.lines.toReversed();
  const back = !isFollowing && !page.isAtEnd && page.position;
  return {
    lines: lines.map(({ at, buildId, taskId, text }) => ({
      at: new Date(at).toISOString(),
      buildId,
      instance: taskId,
      text,
    })),
    nextCursor: back ? sealOutputCursor(project, { direction: "back", position: back, head, ...filters }) : null,
    followCursor: sealOutputCursor(project, { direction: "follow", position: head, head, ...filters }),
  };
});
