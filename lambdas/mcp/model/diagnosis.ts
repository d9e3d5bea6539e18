import { SlipwayError } from "../../../sdk/errors.ts";
import { type Caller, type Data, listOf, objectIn, textIn } from "./caller.ts";
import {
  collectEvidence,
  differences,
  exitCodeIn,
  failedStage,
  type Line,
  type LogEvidence,
  lastProbeIn,
  nextStep,
  settingsOf,
  splitError,
  withinLength,
} from "./evidence.ts";

const logPagesMax = 20;
/** Of the whole answer about a failed build: four characters are about one token, and 2,000 tokens are the limit. */
const lengthMax = 7_400;

/** The evidence of a build's log; undefined if the log cannot be read now or does not end within twenty pages. */
async function evidenceOf(caller: Caller, ids: Data): Promise<LogEvidence | undefined> {
  let evidence: LogEvidence | undefined;
  let cursor: unknown;
  try {
    for (let page = 0; page < logPagesMax; page += 1) {
      const data = await caller.call("list-build-logs", { ...ids, limit: 1000, ...(cursor ? { cursor } : {}) });
      const lines = listOf(data, "lines").map((line) => ({ stage: textIn(line, "stage"), text: textIn(line, "text") }));
      evidence = collectEvidence(evidence, lines);
      cursor = data.nextCursor;
      if (typeof cursor !== "string") return evidence;
    }
  } catch (error) {
    if (!(error instanceof SlipwayError)) throw error;
  }
  return evidence && { ...evidence, last: [], lastErrors: [] };
}

/** The build that serves, with what was detected in it. */
async function liveBuild(caller: Caller, ids: Data): Promise<(Data & { detected?: string }) | undefined> {
  const builds = listOf(await caller.call("list-builds", { ...ids, limit: 50 }), "builds");
  const live = builds.find((build) => build.isLive === true && (build.status === "ready" || build.status === "error"));
  if (!live) return undefined;
  const of = { ...ids, buildId: live.id };
  const [build, log] = await Promise.all([
    caller.call("get-build", of).then((data) => objectIn(data, "build")),
    caller.call("list-build-logs", { ...of, limit: 100 }).catch((error: unknown) => {
      if (error instanceof SlipwayError) return {};
      throw error;
    }),
  ]);
  const lines = listOf(log, "lines").map((line) => ({ stage: textIn(line, "stage"), text: textIn(line, "text") }));
  const detected = collectEvidence(undefined, lines).detected;
  return { ...build, ...(detected !== undefined && { detected }) };
}

const texts = (lines: readonly Line[] | undefined) => lines?.map(({ text }) => text) ?? [];

/** Why a build failed, with the evidence and one next step; together with the build's own fields at most 2,000 tokens. */
export async function diagnose(caller: Caller, ids: Data, build: Data): Promise<{ data: Data; nextStep: string }> {
  const { orgId, projectId } = ids;
  const [log, live] = await Promise.all([evidenceOf(caller, ids), liveBuild(caller, { orgId, projectId })]);
  const { reason, output } = splitError(textIn(build, "error"));
  const stage = failedStage(build, log?.last.at(-1) ?? log?.first);
  const last = log && log.last.length > 0 ? texts(log.last) : output.slice(-8);
  const detected = log?.detected ?? /^Detected: .*$/m.exec(reason)?.[0];
  const firstErrors = texts(log?.firstErrors);
  const lastErrors = texts(log?.lastErrors).filter((line) => !firstErrors.includes(line) && !last.includes(line));
  const step = nextStep(stage, [reason, ...output, ...last].join("\n"));
  const diagnosis = {
    stage,
    reason,
    exitCode: exitCodeIn(reason),
    lastProbe: lastProbeIn(reason),
    detected: detected ?? null,
    settings: settingsOf(build),
    warning: build.warning,
    suggestion: build.suggestion,
    firstErrorLines: firstErrors,
    lastErrorLines: lastErrors,
    lastLines: last,
    stillServing: live
      ? {
          buildId: live.id,
          since: live.updatedAt,
          differences: differences({ ...build, ...(detected !== undefined && { detected }) }, live),
        }
      : null,
    nextStep: step,
  };
  const { error: _, suggestion: __, warning: ___, findings: ____, ...own } = build;
  const shortened = withinLength(diagnosis, lengthMax - JSON.stringify(withinLength(own, 1_200)).length);
  return { data: { build: withinLength(own, 1_200), diagnosis: shortened }, nextStep: step };
}
