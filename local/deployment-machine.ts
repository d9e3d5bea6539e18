import { readFileSync } from "node:fs";
import { CodeBuildClient, StartBuildCommand, type StartBuildCommandInput } from "@aws-sdk/client-codebuild";
import { removalSteps, steps } from "../statemachines/steps.ts";
import { AnswerLost, type CallFault, type Faults, runWithFault } from "./aws/call-faults.ts";
import type { CodeBuild } from "./codebuild/server.ts";
import { FunctionError, type Functions } from "./lambda/functions.ts";
import { TaskError } from "./stepfunctions/interpreter/errors.ts";
import {
  codeBuildResult,
  type Integrations,
  lambdaFailure,
  lambdaResult,
} from "./stepfunctions/interpreter/resources.ts";

/** The token of a step in the state machine's definition: `AnalyzeFunction` for `analyze`. */
function functionToken(stepId: string): string {
  const words = stepId.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join("")}Function`;
}

/** Reads the same definition as on AWS and replaces its tokens with the local names. */
export function readDefinition(machine: "deployment" | "removal", names: Record<string, string>): unknown {
  const text = readFileSync(new URL(`../statemachines/${machine}.asl.json`, import.meta.url), "utf8");
  const values = new Map(
    Object.entries({
      ...names,
      ...Object.fromEntries(Object.keys({ ...steps, ...removalSteps }).map((id) => [functionToken(id), id])),
    }),
  );
  const filled = text.replaceAll(/\$\{(\w+)\}/g, (token, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`The state machine's token ${token} has no value`);
    return value;
  });
  return JSON.parse(filled);
}

function lowerCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerCased);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.charAt(0).toLowerCase() + key.slice(1), lowerCased(inner)]),
  );
}

/** The errors of StartBuild that the SDK models; Step Functions reports other errors of CodeBuild by one name. */
const modeledErrors = ["AccountLimitExceededException", "InvalidInputException", "ResourceNotFoundException"];

/** The error of `codebuild:startBuild` for an error of the SDK. */
function startBuildFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TaskError) return error;
  const isService = "$metadata" in error && "$fault" in error;
  if (!isService) return new TaskError("CodeBuild.SdkClientException", error.message);
  const name = modeledErrors.includes(error.name) ? error.name : "CodeBuildException";
  return new TaskError(`CodeBuild.${name}`, error.message);
}

/** The error of `lambda:invoke` for a fault of Lambda before the function runs. */
function invocationRefused(fault: CallFault): TaskError {
  if (fault.kind === "refused") return new TaskError(`Lambda.${fault.code}`);
  return new TaskError(fault.kind === "failed" ? "Lambda.ServiceException" : "Lambda.TooManyRequestsException");
}

/** Runs a function with a fault of Lambda. A late function has done its work when Lambda ends it at its time limit. */
async function invokeWithFault(
  fault: CallFault | undefined,
  invoke: () => Promise<unknown>,
): Promise<ReturnType<typeof lambdaResult>> {
  try {
    const answer = await runWithFault(
      fault?.kind === "late" ? { kind: "late", ms: 0 } : fault,
      invoke,
      invocationRefused,
    );
    if (fault?.kind === "late")
      throw lambdaFailure({ errorType: "Sandbox.Timedout", errorMessage: "Task timed out after 60.00 seconds" });
    return lambdaResult(answer);
  } catch (error) {
    if (error instanceof AnswerLost) throw new TaskError("Lambda.ClientExecutionTimeoutException");
    if (error instanceof FunctionError)
      throw lambdaFailure({ errorType: error.errorType, errorMessage: error.message });
    throw error;
  }
}

/** The integrations of the local Step Functions: Lambda functions, and CodeBuild through its SDK client. */
export function createIntegrations(
  functions: Functions,
  codeBuild: Pick<CodeBuild, "finished">,
  faults?: Faults,
): Integrations {
  const client = new CodeBuildClient({});
  return {
    "arn:aws:states:::lambda:invoke": async (args) => {
      const { FunctionName, Payload } = args as { FunctionName: string; Payload: unknown };
      const fault = faults?.({ service: "Lambda", operation: "Invoke", input: JSON.stringify(args) });
      return invokeWithFault(fault, () => functions.invoke(FunctionName, Payload));
    },
    "arn:aws:states:::codebuild:startBuild.sync": async (args, { signal }) => {
      const command = new StartBuildCommand(lowerCased(args) as StartBuildCommandInput);
      const { build } = await client.send(command).catch((error: unknown) => {
        throw startBuildFailure(error);
      });
      if (!build?.id) throw new TaskError("CodeBuild.CodeBuildException", "CodeBuild answered without a build");
      return codeBuildResult(await codeBuild.finished(build.id, signal));
    },
  };
}
