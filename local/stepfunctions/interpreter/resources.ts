import { TaskError } from "./errors.ts";

/** The parameters of a Task's call other than its Arguments. */
export interface TaskContext {
  /** Aborts when the state times out, the execution is stopped, or the service closes; not when the task token is answered. */
  signal: AbortSignal;
  /** Only for `.waitForTaskToken` resources. */
  taskToken?: string;
  executionArn: string;
}

/** Runs a Task resource: resolves with the result, rejects with a TaskError. It must be safe to repeat after a crash. */
export type Integration = (args: unknown, context: TaskContext) => Promise<unknown>;

/** The integrations by resource ARN. `X.waitForTaskToken` uses the integration of `X` if it has none of its own. */
export type Integrations = Readonly<Record<string, Integration>>;

const TOKEN_SUFFIX = ".waitForTaskToken";
const LAMBDA_INVOKE = "arn:aws:states:::lambda:invoke";
const START_BUILD = "arn:aws:states:::codebuild:startBuild.sync";
const LAMBDA_ARGUMENTS = ["ClientContext", "FunctionName", "InvocationType", "Payload", "Qualifier"];
const BUILD_ARGUMENTS = [
  ...["ArtifactsOverride", "BuildspecOverride", "BuildStatusConfigOverride", "CacheOverride", "CertificateOverride"],
  ...["ComputeTypeOverride", "DebugSessionEnabled", "EncryptionKeyOverride", "EnvironmentTypeOverride"],
  ...["EnvironmentVariablesOverride", "FleetOverride", "GitCloneDepthOverride", "GitSubmodulesConfigOverride"],
  ...["IdempotencyToken", "ImageOverride", "ImagePullCredentialsTypeOverride", "InsecureSslOverride"],
  ...["LogsConfigOverride", "PrivilegedModeOverride", "ProjectName", "QueuedTimeoutInMinutesOverride"],
  ...["RegistryCredentialOverride", "ReportBuildStatusOverride", "SecondaryArtifactsOverride"],
  ...["SecondarySourcesOverride", "SecondarySourcesVersionOverride", "ServiceRoleOverride", "SourceAuthOverride"],
  ...["SourceLocationOverride", "SourceTypeOverride", "SourceVersion", "TimeoutInMinutesOverride"],
];

/** The supported resources with their allowed and required Arguments. */
const KNOWN: Record<string, { allowed: string[]; required: string }> = {
  [LAMBDA_INVOKE]: { allowed: LAMBDA_ARGUMENTS, required: "FunctionName" },
  [`${LAMBDA_INVOKE}${TOKEN_SUFFIX}`]: { allowed: LAMBDA_ARGUMENTS, required: "FunctionName" },
  [START_BUILD]: { allowed: BUILD_ARGUMENTS, required: "ProjectName" },
};

/** Whether a Task with this resource waits for its task token. */
export function waitsForToken(resource: string): boolean {
  return resource.endsWith(TOKEN_SUFFIX);
}

/** The registered integration of a resource. */
export function integrationOf(integrations: Integrations, resource: string): Integration | undefined {
  const plain = waitsForToken(resource) ? resource.slice(0, -TOKEN_SUFFIX.length) : resource;
  for (const key of [resource, plain]) if (Object.hasOwn(integrations, key)) return integrations[key];
  return undefined;
}

/** The problems for which AWS or this interpreter refuses a Task's resource and the names of its Arguments. */
export function resourceProblems(integrations: Integrations, resource: string, args: unknown): string[] {
  const sdk = /^arn:aws:states:::aws-sdk:[a-z0-9]+:[a-zA-Z0-9]+(\.waitForTaskToken)?$/.test(resource);
  const known = Object.hasOwn(KNOWN, resource) ? KNOWN[resource] : undefined;
  if (!known && !sdk) return [`the resource ${resource} is not supported`];
  if (!integrationOf(integrations, resource)) return [`no integration is registered for ${resource}`];
  if (typeof args === "string") return [];
  if (typeof args !== "object" || args === null || Array.isArray(args)) return ["Arguments must be an object"];
  if (!known) return [];
  const problems = Object.keys(args)
    .filter((name) => !known.allowed.includes(name))
    .map((name) => `the argument ${name} is not supported by ${resource}`);
  if (!Object.hasOwn(args, known.required)) problems.push(`${resource} needs the argument ${known.required}`);
  return problems;
}

/** The result of a `lambda:invoke` state. */
export function lambdaResult(payload: unknown): object {
  return { ExecutedVersion: "$LATEST", Payload: payload, StatusCode: 200 };
}

/** The failure of `lambda:invoke` after the function threw: its error name, and the error as JSON. */
export function lambdaFailure(error: { errorType?: string; errorMessage?: string }): TaskError {
  return new TaskError(error.errorType || "Error", JSON.stringify(error));
}

function pascalCase(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(pascalCase);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.map(([key, inner]) => [key.charAt(0).toUpperCase() + key.slice(1), pascalCase(inner)]),
  );
}

/** Converts a finished build of the CodeBuild API to the result of `codebuild:startBuild.sync`; throws unless it SUCCEEDED. */
export function codeBuildResult(build: { buildStatus?: string | undefined }): object {
  const result = { Build: pascalCase(build) };
  if (build.buildStatus !== "SUCCEEDED") throw new TaskError("States.TaskFailed", JSON.stringify(result));
  return result;
}
