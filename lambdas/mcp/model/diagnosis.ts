import { type Caller, type Data, listOf, objectIn, textIn } from "./caller.ts";
import { plain } from "./fence.ts";

interface Line {
  stage: string;
  text: string;
}

const logPagesMax = 5;
const linesShown = 12;
const lineLengthMax = 200;
const errorLine = /\b(error|err!|exception|traceback|cannot find|not found|failed|fatal|panic)\b/i;

async function linesOf(caller: Caller, ids: Data): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: unknown;
  for (let page = 0; page < logPagesMax; page += 1) {
    const data = await caller.call("list-build-logs", { ...ids, limit: 1000, ...(cursor ? { cursor } : {}) });
    lines.push(...listOf(data, "lines").map((line) => ({ stage: textIn(line, "stage"), text: textIn(line, "text") })));
    cursor = data.nextCursor;
    if (typeof cursor !== "string") break;
  }
  return lines;
}

const shown = (lines: readonly Line[]) => lines.map(({ text }) => plain(text, lineLengthMax));

/** What was detected and set, from the findings of a build. */
const settingsOf = (build: Data) =>
  listOf(build, "findings").flatMap((finding) => (finding.code === "setting" ? [textIn(finding, "message")] : []));

async function liveBuild(caller: Caller, ids: Data): Promise<Data | undefined> {
  const builds = listOf(await caller.call("list-builds", { ...ids, limit: 50 }), "builds");
  const live = builds.find((build) => build.isLive === true && (build.status === "ready" || build.status === "error"));
  return live && objectIn(await caller.call("get-build", { ...ids, buildId: live.id }), "build");
}

/** The fields in which a build differs from the live one. */
function differences(build: Data, live: Data): Data {
  const fields = ["runtime", "size", "title"].filter((field) => build[field] !== live[field]);
  const changed = Object.fromEntries(fields.map((field) => [field, { this: build[field], live: live[field] }]));
  const [own, other] = [settingsOf(build), settingsOf(live)];
  const settings = own.filter((setting) => !other.includes(setting));
  return { ...changed, ...(settings.length > 0 && { settings }) };
}

/** An app or the service that names a variable which is not there. */
const missingVariable =
  /\b[A-Z][A-Z0-9_]{2,}\b[^\n]{0,40}\b(not set|missing|undefined|required)\b|\bmissing[^\n]{0,40}\bvariable\b/;

function nextStep(build: Data, stage: string, lines: readonly Line[]): string {
  const evidence = [textIn(build, "error"), ...lines.slice(-linesShown).map(({ text }) => text)].join("\n");
  if (missingVariable.test(evidence))
    return "Set the variable that the output names with set_variable, then deploy again with create_build.";
  switch (stage) {
    case "analyzing":
      return "Correct the archive as the reason says, then deploy again with create_build.";
    case "building":
      return "Correct what the first error line names (dependencies, lock file, build script), then deploy again with create_build.";
    case "releasing":
      return "Correct the release command or what it needs, then deploy again with create_build.";
    default:
      return "Correct the app's start: it must listen on the port in PORT, on all interfaces, and answer GET / below 500. Then deploy again with create_build.";
  }
}

/** Why a build failed, with the evidence: at most about 2,000 tokens. */
export async function diagnose(caller: Caller, ids: Data, build: Data): Promise<Data> {
  const { orgId, projectId } = ids;
  const [lines, live] = await Promise.all([linesOf(caller, ids), liveBuild(caller, { orgId, projectId })]);
  const stage = lines.at(-1)?.stage ?? textIn(build, "status");
  const errors = lines.filter(({ text }) => errorLine.test(text));
  return {
    stage,
    reason: plain(textIn(build, "error"), 1_500),
    warning: build.warning,
    suggestion: build.suggestion,
    settings: settingsOf(build),
    firstErrorLines: shown(errors.slice(0, 6)),
    lastLines: shown(lines.slice(-linesShown)),
    stillServing: live ? { buildId: live.id, since: live.updatedAt, differences: differences(build, live) } : null,
    nextStep: nextStep(build, stage, lines),
  };
}
