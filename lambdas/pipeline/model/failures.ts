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
      return "A step of the deployment took longer than it may.";
    case "CodeBuild.AccountLimitExceededException":
      return "The account's limit of concurrent image builds stayed used up. Retry later, or have the CodeBuild quota raised.";
    default:
      return "The deployment failed on our side. Please create the build again.";
  }
}

/** The archive never came (docs/api.md, Upload). */
export const uploadMissing =
  "No archive was uploaded within 1 hour. Create a new build and PUT the zip to its url with Content-Type: application/zip.";

/** The install or build command failed: what the last lines say, and what to do. */
export function buildFailedReason(lines: readonly string[]): string {
  const tail = lines.filter((line) => line.trim() !== "").slice(-20);
  const reason = "The image could not be built: a command of the build failed.";
  return tail.length === 0 ? reason : `${reason} Last output:\n${tail.join("\n")}`;
}
