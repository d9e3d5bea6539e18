import { plain } from "../../../sdk/fence.ts";
import { type Data, listOf, textIn } from "./caller.ts";

export interface Line {
  stage: string;
  text: string;
}

/** The lines of a build's log that say why it failed. */
export interface LogEvidence {
  first: Line | undefined;
  detected: string | undefined;
  firstErrors: Line[];
  lastErrors: Line[];
  last: Line[];
}

const linesShown = 8;
const errorsShown = 4;
const errorLine = /\b(error|err!|exception|traceback|cannot find|not found|failed|fatal|panic)\b/i;
const detectedLine = /^Detected: /;

/** Collects the evidence while a log is read, so that a long log is not held. */
export function collectEvidence(evidence: LogEvidence | undefined, lines: readonly Line[]): LogEvidence {
  const errors = lines.filter(({ text }) => errorLine.test(text));
  const { first, detected, firstErrors, lastErrors, last }: Partial<LogEvidence> = evidence ?? {};
  return {
    first: first ?? lines[0],
    detected: detected ?? lines.find(({ text }) => detectedLine.test(text))?.text,
    firstErrors: [...(firstErrors ?? []), ...errors].slice(0, errorsShown),
    lastErrors: [...(lastErrors ?? []), ...errors].slice(-errorsShown),
    last: [...(last ?? []), ...lines.filter(({ text }) => text.trim() !== "")].slice(-linesShown),
  };
}

/** The error of a build without its excerpt of the output, and the excerpt's lines. */
export function splitError(error: string): { reason: string; output: string[] } {
  const [reason = "", output] = error.split(/\n(?:Last output|Output):\n/, 2);
  return { reason, output: output?.split("\n") ?? [] };
}

/** The stage in which a build failed: as its error says, or else as far as its log goes. */
export function failedStage(build: Data, last: Line | undefined): string {
  const { reason } = splitError(textIn(build, "error"));
  if (/did not become healthy/.test(reason)) return "deploying";
  if (reason.startsWith("The release command ")) return "releasing";
  if (reason.startsWith("The image could not be built")) return "building";
  if (last !== undefined) return last.stage;
  return typeof build.size === "number" ? "analyzing" : "pending";
}

/** What the error says of the exit of a command or the app; null if it names none. */
export function exitCodeIn(reason: string): number | null {
  const code = /exit(?:ed with)? code (\d+)/.exec(reason)?.[1];
  return code === undefined ? null : Number(code);
}

/** What the error says of the last request to the new version; null if none was made. */
export function lastProbeIn(reason: string): string | null {
  const sentence = /The last probe, GET [^\n]*?(?:answered with \d+|no answer within \d+ s)/.exec(reason)?.[0];
  return sentence ?? /(?:Nothing is listening on port \d+|Your app listens on [^\n]{1,120})/.exec(reason)?.[0] ?? null;
}

/** The settings of a build and where they come from. */
export const settingsOf = (build: Data): string[] =>
  listOf(build, "findings").flatMap((finding) => (finding.code === "setting" ? [textIn(finding, "message")] : []));

/** The fields in which a build differs from the live one. */
export function differences(
  build: Data & { detected?: string | undefined },
  live: Data & { detected?: string | undefined },
): Data {
  const fields = ["runtime", "detected", "size", "title"].filter((field) => build[field] !== live[field]);
  const [own, other] = [settingsOf(build), settingsOf(live)];
  const added = own.filter((setting) => !other.includes(setting));
  const removed = other.filter((setting) => !own.includes(setting));
  return {
    ...Object.fromEntries(fields.map((field) => [field, { this: build[field], live: live[field] }])),
    ...((added.length > 0 || removed.length > 0) && { settings: { this: added, live: removed } }),
  };
}

/** Matches output that names a missing variable. */
const missingVariable =
  /\b[A-Z][A-Z0-9_]{2,}\b[^\n]{0,40}\b(not set|missing|undefined|required)\b|\b([Mm]issing|[Rr]equired)\b[^\n]{0,40}\b(variable|setting)\b|^KeyError: |^Set the variable /m;

/** One step to take, in the service's own words. */
export function nextStep(stage: string, evidence: string): string {
  if (missingVariable.test(evidence))
    return "Set the variable that the output names with set_variable, then deploy again with create_build.";
  switch (stage) {
    case "pending":
      return "Call create_build again, and run the commands that it answers.";
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

function cut(value: unknown, max: number): unknown {
  if (typeof value === "string") return plain(value, max);
  if (Array.isArray(value)) return value.map((one) => cut(one, max));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, max)]));
}

/** Shortens texts until the value fits into `lengthMax` characters of JSON; if 60 characters are too long, shortens lists and drops objects. */
export function withinLength(value: Data, lengthMax: number): Data {
  for (const max of [1_200, 400, 200, 120, 60]) {
    const shorter = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, max)]));
    if (JSON.stringify(shorter).length <= lengthMax) return shorter;
  }
  return { ...value, ...Object.fromEntries(Object.keys(value).map((name) => [name, shortest(value[name])])) };
}

const shortest = (value: unknown) =>
  Array.isArray(value)
    ? cut(value.slice(0, 2), 60)
    : typeof value === "object" && value !== null
      ? null
      : cut(value, 60);
