import type { SingleBuildReply } from "../api/builds.ts";
import { SlipwayError } from "../sdk/errors.ts";
import { sleepFor } from "../sdk/retry.ts";
import { waitForBuild } from "../sdk/wait-for-build.ts";
import type { Target } from "./configuration.ts";
import { isLocal } from "./explain.ts";
import { LiveOutput } from "./live-output.ts";
import { durationText, printable, type Terminal } from "./terminal.ts";

const stageNames = {
  pending: "queued",
  analyzing: "analyzing",
  building: "building",
  deploying: "deploying",
  ready: "ready",
  error: "error",
} as const satisfies Record<SingleBuildReply["status"], string>;

/** A finished build, and the addresses that it serves at; none unless it is ready. */
export interface FollowedBuild {
  build: SingleBuildReply;
  endpoints: string[];
}

/** The output is read between the reads of the build, so that neither waits for the other. */
const outputSecondsAfterStatus = 0.5;

/** A service on this machine can finish a small build within a second, so a pause is at most a fifth of the time waited so far. */
const localPauseSeconds = (waitedSeconds: number) => Math.max(0.2, waitedSeconds / 5);

/** Waits for a build; shows each stage with its duration, the detected app, and the reason for a slow start. */
export async function followBuild(
  target: Target,
  buildId: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<FollowedBuild> {
  const { client, project } = target;
  const output = new LiveOutput(target, buildId, terminal);
  const finished = new AbortController();
  const stopped = AbortSignal.any([signal, finished.signal]);
  const reading = sleepFor(outputSecondsAfterStatus, stopped).then(
    () => output.follow(stopped),
    () => undefined,
  );
  let stage: { name: string; since: number } | undefined;
  const timeOf = ({ name, since }: { name: string; since: number }) =>
    `  ${name.padEnd(10)} ${durationText(performance.now() - since)}`;
  const finishStage = () => {
    if (stage) terminal.note(timeOf(stage));
    stage = undefined;
  };
  const ticking = setInterval(() => {
    if (stage) terminal.progress(`${timeOf(stage)} … ${output.newest}`);
  }, 200);
  const onStatus = ({ status }: SingleBuildReply) => {
    finishStage();
    if (status === "deploying") output.appStarts();
    if (status !== "ready" && status !== "error") stage = { name: stageNames[status], since: performance.now() };
  };
  try {
    const build = await waitForBuild(
      client,
      { ...project, buildId },
      { signal, onStatus, ...(isLocal(target.baseUrl) && { pauseSecondsMax: localPauseSeconds }) },
    );
    finished.abort();
    const [{ endpoints }] = await Promise.all([
      isReady(build) ? client.listEndpoints(project) : { endpoints: [] },
      reading.then(() => output.finish()),
    ]);
    return { build, endpoints };
  } finally {
    clearInterval(ticking);
    finishStage();
    finished.abort();
    await reading;
  }
}

const isReady = ({ status, canceledAt }: SingleBuildReply) => status === "ready" && canceledAt === null;

/** Prints the result of a finished build and returns the exit code. Writes one object to stdout with `json`, else the addresses. */
export async function reportOutcome(
  target: Target,
  { build, endpoints }: FollowedBuild,
  { terminal, json, startedAt }: { terminal: Terminal; json: boolean; startedAt: number },
): Promise<number> {
  if (json) terminal.result(JSON.stringify({ build, endpoints }));
  if (!isReady(build)) {
    await tellFailure(target, build, terminal);
    return 1;
  }
  terminal.note(`Ready after ${durationText(performance.now() - startedAt)}.`, "green");
  for (const line of adviceOf(build)) terminal.note(line, "yellow");
  if (!json) for (const endpoint of endpoints) terminal.result(endpoint);
  return 0;
}

/** The suggestion and the warning of a build, one line each. */
export function adviceOf({ suggestion, warning }: SingleBuildReply): string[] {
  const told = (kind: string, text: string | null) =>
    (text ?? "").split("\n").flatMap((line) => (line.trim() === "" ? [] : [`${kind}: ${printable(line)}`]));
  return [...told("Suggestion", suggestion), ...told("Warning", warning)];
}

const linesShown = 20;

async function tellFailure(target: Target, build: SingleBuildReply, terminal: Terminal): Promise<void> {
  if (build.canceledAt !== null) {
    terminal.note(`Build ${build.id} was canceled while ${build.status}.`, "red");
    return;
  }
  terminal.note(`Build ${build.id} failed.`, "red");
  const reason = build.error ?? "The service gave no reason. Look at the output below.";
  for (const line of reason.split("\n")) terminal.note(printable(line));
  for (const line of adviceOf(build)) terminal.note(line, "yellow");
  const lines = await lastLines(target, build.id).catch((error: unknown) => {
    if (error instanceof SlipwayError) return [];
    throw error;
  });
  const last = lines.at(-1);
  if (last === undefined) return;
  const more = `slipway logs ${build.id}`;
  // The error of a failed start already contains its last output.
  const isTold = last.text !== "" && reason.includes(last.text);
  terminal.note(isTold ? `All of its output: ${more}` : `The last lines of its output (all of them: ${more}):`);
  if (isTold) return;
  for (const { stage, text } of lines) terminal.note(`  ${terminal.style("dim", printable(stage))} ${printable(text)}`);
}

async function lastLines({ client, project }: Target, buildId: string) {
  let last: { stage: string; text: string }[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 100; page += 1) {
    const { lines, nextCursor } = await client.listBuildLogs({ ...project, buildId, limit: 1000, cursor });
    last = [...last, ...lines].slice(-linesShown);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  return last;
}
