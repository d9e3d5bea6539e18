import { buildAdvice } from "./advice.ts";
import { failureExcerpt } from "./output-excerpt.ts";

/** An error as the state machine caught it. */
export interface Caught {
  Error: string;
  Cause: string;
}

function causeMessage(cause: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(cause);
    if (typeof parsed === "object" && parsed !== null && "errorMessage" in parsed) return String(parsed.errorMessage);
  } catch {
    return undefined;
  }
  return undefined;
}

/** Log stream of the image build that a caught CodeBuild failure names. */
export function failedBuildLog(caught: Caught): string | undefined {
  const stream = /"StreamName"\s*:\s*"([^"]+)"/.exec(caught.Cause)?.[1];
  return caught.Error === "States.TaskFailed" ? stream : undefined;
}

/** What a caught error means to the user. Messages of unknown errors stay in the log. */
export function caughtReason(caught: Caught): string {
  switch (caught.Error) {
    case "BuildRejected":
      return causeMessage(caught.Cause) ?? "The archive cannot be deployed.";
    case "States.Timeout":
      return "A step of the deployment timed out. Please create the build again.";
    case "CodeBuild.AccountLimitExceededException":
      return "The account's limit of concurrent image builds is reached. Retry later, or request a higher CodeBuild quota.";
    default:
      return "The deployment failed on our side. Please create the build again.";
  }
}

/** The archive was not uploaded in time (docs/api.md, Upload). */
export const uploadMissing =
  "No archive was uploaded within 1 hour. Create a new build and PUT the zip to its url with Content-Type: application/zip.";

/** The last line of the log of a failed build: `npm ci failed with exit code 1`. */
const failedCommand = /(?:^| )(\S.*) (?:failed with exit code \d+|took longer than \d+ minutes)$/;
const failedStep = /process "\/bin\/sh -c (.+)" did not complete successfully: exit code: (\d+)/;

/** Failures of the machine that builds, and what its user can do. */
const machineFailures: readonly (readonly [pattern: RegExp, sentence: (detail: string) => string])[] = [
  [
    /failed to solve: (\S+): failed to resolve source metadata|failed to resolve reference "(\S+)"/,
    (image) => `its base image ${image} could not be pulled.`,
  ],
  [/no space left on device|disk quota exceeded|507 Insufficient Storage/i, () => "the disk is full."],
  [
    /Cannot connect to the Docker daemon|error reading from server: EOF|code = Unavailable|connection (?:refused|reset)/,
    () => "the Docker engine stopped during the build. Start it, and build again.",
  ],
];

function machineFailure(line: string): string | undefined {
  for (const [pattern, sentence] of machineFailures) {
    const found = pattern.exec(line);
    if (found) return `The image could not be built: ${sentence(found[1] ?? found[2] ?? "")}`;
  }
  return undefined;
}

function failureSentence(lines: readonly string[]): string {
  for (const line of lines.toReversed()) {
    const [, command, code] = failedStep.exec(line) ?? [];
    if (command !== undefined) return `The image could not be built: ${command} failed with exit code ${code}.`;
    if (failedCommand.test(line)) return `The image could not be built: ${line.trim()}.`;
  }
  // Only lines of docker itself: an app's command may print the same words.
  const errors = lines.toReversed().filter((line) => /^(?:#\d+ )?ERROR: |^Cannot connect to /.test(line));
  const found = errors.map(machineFailure).find((sentence) => sentence !== undefined);
  return found ?? "The image could not be built: a command of the build failed.";
}

/** The reason when an install or build command failed: the command, advice if its output names the cause, and an excerpt. */
export function buildFailedReason(lines: readonly string[], detected: string | null = null): string {
  const output = failureExcerpt(lines.filter((line) => !failedCommand.test(line)));
  return [failureSentence(lines), buildAdvice(lines), detected, ...(output.length === 0 ? [] : ["Output:", ...output])]
    .filter((line) => typeof line === "string")
    .join("\n");
}

/** The sentence of every build error that says what was detected in the archive. */
export function detectedSentence(build: { runtime: string | null; start?: string | undefined }): string | null {
  if (build.runtime === null) return null;
  return build.start === undefined
    ? `Detected: ${build.runtime}.`
    : `Detected: ${build.runtime}, started with: ${build.start}`;
}
