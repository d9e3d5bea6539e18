import { readFileSync } from "node:fs";
import { CodeBuildClient, StartBuildCommand, type StartBuildCommandInput } from "@aws-sdk/client-codebuild";
import { removalSteps, steps } from "../statemachines/steps.ts";
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

/** The integrations of the local Step Functions: Lambda functions, and CodeBuild through its SDK client. */
export function createIntegrations(functions: Functions, codeBuild: Pick<CodeBuild, "finished">): Integrations {
  const client = new CodeBuildClient({});
  return {
    "arn:aws:states:::lambda:invoke": async (args) => {
      const { FunctionName, Payload } = args as { FunctionName: string; Payload: unknown };
      try {
        return lambdaResult(await functions.invoke(FunctionName, Payload));
      } catch (error) {
        if (error instanceof FunctionError)
          throw lambdaFailure({ errorType: error.errorType, errorMessage: error.message });
        throw error;
      }
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
