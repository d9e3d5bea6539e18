import { readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  Build,
  EnvironmentVariable,
  ExportedEnvironmentVariable,
  StartBuildInput,
} from "@aws-sdk/client-codebuild";
import * as codebuild from "@aws-sdk/client-codebuild";
import type { InvocationRequest, InvocationResponse } from "@aws-sdk/client-lambda";
import * as lambda from "@aws-sdk/client-lambda";
import { expect, expectTypeOf, it } from "vitest";
import type * as z from "zod";
import definition from "../../statemachines/deployment.asl.json" with { type: "json" };
import { steps } from "../../statemachines/steps.ts";

/** Step Functions uses the SDK's names with an uppercase first letter. */
type Pascal<T> = T extends unknown ? Capitalize<Extract<keyof T, string>> : never;
type Strange<Given, Known> = Exclude<Given extends unknown ? keyof Given : never, Pascal<Known>>;

type States = typeof definition.States;
type Invocations = {
  [Name in keyof States]: States[Name] extends { Arguments: { FunctionName: string } }
    ? States[Name]["Arguments"]
    : never;
}[keyof States];
type ImageBuild = States["BuildImage"]["Arguments"];

it("each invocation passes only parameters that Lambda's Invoke has", () => {
  expectTypeOf<Strange<Invocations, InvocationRequest>>().toEqualTypeOf<never>();
  // Every step reads `$states.result.Payload`.
  expectTypeOf<"Payload">().toExtend<Pascal<InvocationResponse>>();
});

it("the image build passes only parameters that CodeBuild's StartBuild has", () => {
  expectTypeOf<Strange<ImageBuild, StartBuildInput>>().toEqualTypeOf<never>();
  expectTypeOf<
    Strange<ImageBuild["EnvironmentVariablesOverride"][number], EnvironmentVariable>
  >().toEqualTypeOf<never>();
});

it("the fields that are read from a finished image build exist", () => {
  type Paths =
    | `Build.${Capitalize<"exportedEnvironmentVariables" & keyof Build>}`
    | `Build.${Capitalize<"logs" & keyof Build>}.${Capitalize<"streamName" & keyof NonNullable<Build["logs"]>>}`;
  const known: Paths[] = ["Build.ExportedEnvironmentVariables", "Build.Logs.StreamName"];
  expectTypeOf<"Name" | "Value">().toEqualTypeOf<Pascal<ExportedEnvironmentVariable>>();
  const read = JSON.stringify(definition.States.BuildImage.Output).matchAll(/\$states\.result\.([\w.]+)/g);
  expect([...new Set([...read].map(([, path]) => path))].sort()).toEqual(known);
});

it("each step gets exactly the fields of its input", () => {
  const handed = Object.values<object>(definition.States).flatMap((state) => {
    if (!("Arguments" in state) || !("FunctionName" in Object(state.Arguments))) return [];
    const { FunctionName, Payload }: { FunctionName: string; Payload: object } = Object(state.Arguments);
    return [[FunctionName.slice(2, -"Function}".length).toLowerCase(), Object.keys(Payload).sort()] as const];
  });
  const inputs: [string, z.ZodObject][] = Object.entries(steps).map(([id, step]) => [
    id.replaceAll("-", ""),
    step.input,
  ]);
  const expected = inputs.map(([id, input]) => [id, Object.keys(input.shape).sort()] as const);
  expect(new Map(handed)).toEqual(new Map(expected));
});

/** The error names of Step Functions itself, from its guide on error handling. */
const stepFunctionsNames = [
  "CodeBuild.CodeBuildException",
  "CodeBuild.SdkClientException",
  "Lambda.AWSLambdaException",
  "Lambda.ClientExecutionTimeoutException",
  "Lambda.SdkClientException",
  "Lambda.ServiceException",
  "Lambda.Unknown",
  // The types of errors that Lambda itself reports of a function.
  "Runtime.ExitError",
  "Runtime.OutOfMemory",
  "Sandbox.Timedout",
  "States.ALL",
  "States.Timeout",
];

it("every error name that is caught or retried can occur", () => {
  const named = new Set(
    [...JSON.stringify(definition).matchAll(/"ErrorEquals":\[([^\]]+)\]/g)].flatMap(([, list]) =>
      JSON.parse(`[${list}]`),
    ),
  );
  const http = join(import.meta.dirname, "../../lambdas/http");
  const own = ["step.ts", "errors.ts"].map((file) => readFileSync(join(http, file), "utf8")).join("\n");
  const thrown = [...own.matchAll(/override readonly name = "(\w+)"/g)].map(([, name]) => name);
  const models: Record<string, object> = { Lambda: lambda, CodeBuild: codebuild };
  const isKnown = (name: string) => {
    const [service = "", error = ""] = name.split(".");
    return stepFunctionsNames.includes(name) || thrown.includes(name) || error in Object(models[service]);
  };
  expect(named.size).toBeGreaterThan(6);
  expect([...named].filter((name) => !isKnown(name))).toEqual([]);
});
