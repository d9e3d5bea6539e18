import { listBuildLogs } from "../../api/builds.ts";
import type { LogReader } from "../aws/logs.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { Project } from "../http/model/project.ts";
import { invalid, notFound } from "../http/problem.ts";
import { buildMask } from "./model/build-mask.ts";
import { Build, type BuildRow } from "./model/rows.ts";

type Stream =
  | { stage: "building" | "releasing" | "deploying"; source: "build" | "app"; name: string | undefined }
  | { stage: "deploying"; source: "note"; note: { at: string; text: string } | undefined | "" };

const waitedNote =
  "Waiting for the project's earlier deployment: its old version is finishing its open requests. This one starts then.";

function streamsOf(build: BuildRow): Stream[] {
  return [
    { stage: "building", source: "build", name: build.buildLog },
    { stage: "releasing", source: "app", name: build.releaseLog },
    { stage: "deploying", source: "note", note: build.waitedAt && { at: build.waitedAt, text: waitedNote } },
    { stage: "deploying", source: "app", name: build.appLog },
  ];
}

interface Line {
  at: string;
  stage: string;
  text: string;
}

/** Continues at stream `index` and its token until the page is full or there are no more lines. */
async function readPage(logs: LogReader, streams: Stream[], from: { index: number; token: string }, limit: number) {
  const lines: Line[] = [];
  let { index, token } = from;
  while (index < streams.length && lines.length < limit) {
    const stream = streams[index];
    if (stream?.source === "note") {
      if (stream.note) lines.push({ ...stream.note, stage: stream.stage });
      index += 1;
      continue;
    }
    if (!stream?.name) {
      index += 1;
      token = "";
      continue;
    }
    const page = await logs.page(stream.source, stream.name, limit - lines.length, token || undefined);
    lines.push(...page.lines.map((line) => ({ at: line.at.toISOString(), stage: stream.stage, text: line.text })));
    // A page without lines is not the end of a stream; the token that was passed is. A stream that does not exist gives none.
    const ended = page.nextToken === undefined || page.nextToken === token;
    token = ended ? "" : (page.nextToken ?? "");
    if (ended) index += 1;
  }
  return { lines, next: index < streams.length ? { index, token } : undefined };
}

export const handler = endpoint(
  listBuildLogs,
  async ({ params, query, access }, { table, logs, values }) => {
    const { projectId, buildId } = params;
    const { project, build } = await access.read({
      project: Project.at({ id: projectId }),
      build: Build.at({ projectId, id: buildId }),
    });
    if (!project || !build) throw notFound();
    const list = `logs:${buildId}`;
    let from = { index: 0, token: "" };
    if (query.cursor !== undefined) {
      if (!isGenuine(project.secret, list, query.cursor)) {
        throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
      }
      const [index = "0", ...token] = claimedPosition(query.cursor).split(":");
      from = { index: Number(index), token: token.join(":") };
    }
    const { lines, next } = await readPage(logs, streamsOf(build), from, query.limit);
    const mask = lines.length === 0 ? String : await buildMask(build, { table, values });
    return {
      lines: lines.map((line) => ({ ...line, text: mask(line.text) })),
      nextCursor: next ? sealCursor(project.secret, list, `${next.index}:${next.token}`) : null,
    };
  },
  { exists: ({ projectId, buildId }) => ({ build: Build.at({ projectId, id: buildId }) }) },
);
