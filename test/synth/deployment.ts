import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { limits } from "../../api/limits.ts";
import { renderBuildspec } from "../../buildpack/image/buildspec.ts";
import { imageBuildServices, listeners, removalSteps, steps } from "../../statemachines/steps.ts";
import { ofType } from "./assembly.ts";
import { functions, grantsOf, written } from "./policies.ts";

const root = join(import.meta.dirname, "../..");
const file = join(root, "statemachines/deployment.asl.json");
const text = readFileSync(file, "utf8");

const task = z.object({
  Type: z.literal("Task"),
  Resource: z.string(),
  TimeoutSeconds: z.int(),
  Arguments: z.looseObject({ FunctionName: z.string().optional() }),
});
const definition = z
  .object({ TimeoutSeconds: z.int(), States: z.record(z.string(), z.looseObject({ Type: z.string() })) })
  .parse(JSON.parse(text));
const tasks = Object.entries(definition.States).flatMap(([name, state]) =>
  state.Type === "Task" ? [[name, task.parse(state)] as const] : [],
);

const [, machine] = ofType("AWS::StepFunctions::StateMachine")[0] ?? [];
const tokens = [...new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))].sort();

it("the state machine has the definition of the file, unchanged", () => {
  expect(JSON.parse(machine?.Properties.DefinitionString)).toEqual(JSON.parse(text));
});

it("the definition is valid States Language", () => {
  const validator = join(root, "node_modules/.bin/asl-validator");
  expect(execFileSync(validator, ["--json-path", file, "--no-arn-check"], { encoding: "utf8" })).toContain("is valid");
});

it("every token of the definition is given a value, every value is used, and nothing else looks like a token", () => {
  expect(Object.keys(machine?.Properties.DefinitionSubstitutions).sort()).toEqual(tokens);
  expect(text.match(/\$\{/g)?.length).toBe([...text.matchAll(/"\$\{\w+\}"/g)].length);
});

it("each step of the table is invoked, by its own token, and no other function is", () => {
  const given: Record<string, unknown> = machine?.Properties.DefinitionSubstitutions;
  const invoked = tasks.flatMap(([, { Arguments }]) => Arguments.FunctionName?.replace(/^\$\{(\w+)\}$/, "$1") ?? []);
  const handlers = invoked.map((token) => written(given[token]).replace(/^<Functions(\w+?)[0-9A-F]{8}>$/, "$1"));
  expect(handlers.sort()).toEqual(
    Object.keys(steps)
      .map((id) => id.replaceAll("-", ""))
      .sort(),
  );
});

it("the machine may start what its definition names, and nothing else", () => {
  const role = written(machine?.Properties.RoleArn).replaceAll(/[<>]/g, "");
  const named = (prefix: string) =>
    Object.entries<unknown>(machine?.Properties.DefinitionSubstitutions)
      .filter(([token]) => token.endsWith(prefix))
      .map(([, value]) => written(value));
  const allowed = (action: string) =>
    grantsOf(role)
      .filter((grant) => grant.action === action)
      .map(({ resource }) => resource);
  expect(allowed("lambda:InvokeFunction").sort()).toEqual(named("Function").sort());
  for (const action of ["codebuild:StartBuild", "codebuild:StopBuild", "codebuild:BatchGetBuilds"]) {
    expect(allowed(action)).toEqual([expect.stringMatching(/<ImageBuildProject\w+>/)]);
  }
  expect(allowed("events:PutRule")).toEqual([
    expect.stringContaining("StepFunctionsGetEventForCodeBuildStartBuildRule"),
  ]);
});

it("inner time limits end before outer ones", () => {
  const timeoutOf = new Map(functions().map(({ id, timeout }) => [id.replaceAll("-", ""), timeout]));
  const [, project] = ofType("AWS::CodeBuild::Project")[0] ?? [];
  for (const [name, { Resource, TimeoutSeconds, Arguments }] of tasks) {
    if (Resource === "arn:aws:states:::codebuild:startBuild.sync") {
      const { TimeoutInMinutes, QueuedTimeoutInMinutes } = project?.Properties ?? {};
      expect((TimeoutInMinutes + QueuedTimeoutInMinutes) * 60).toBeLessThan(TimeoutSeconds);
    } else {
      const token = Arguments.FunctionName?.slice(2, -"Function}".length).toLowerCase();
      expect([name, timeoutOf.get(token ?? "")]).toEqual([name, expect.any(Number)]);
      expect(timeoutOf.get(token ?? "")).toBeLessThan(TimeoutSeconds);
    }
  }
  const longest = tasks.reduce((sum, [, { TimeoutSeconds }]) => sum + TimeoutSeconds, 0);
  expect(longest).toBeLessThan(definition.TimeoutSeconds);
});

/** The default time-out of the aws command for an answer. */
const commandSeconds = 60;

it("grant-build-access answers before the aws command times out, and an image build ends long before its session expires", () => {
  const accessFunction = functions().find(({ id }) => id === "grant-build-access");
  expect(accessFunction?.timeout).toBeLessThan(commandSeconds);
  const [, project] = ofType("AWS::CodeBuild::Project")[0] ?? [];
  expect(project?.Properties.TimeoutInMinutes * 60).toBeLessThanOrEqual(3_600 / 2);
});

const imageBuild = z.object({
  Arguments: z.object({ EnvironmentVariablesOverride: z.array(z.object({ Name: z.string() })) }),
});

it("the image build runs the buildspec of the image rules, and is told every name that it or the function that gives it access uses", () => {
  const [, project] = ofType("AWS::CodeBuild::Project")[0] ?? [];
  const buildspec = JSON.parse(project?.Properties.Source.BuildSpec);
  expect(buildspec).toEqual(renderBuildspec());
  const told = imageBuild
    .parse(definition.States.BuildImage)
    .Arguments.EnvironmentVariablesOverride.map(({ Name }) => Name);
  const commands: string[] = Object.values<{ commands: string[] }>(buildspec.phases).flatMap((phase) => phase.commands);
  // A name with a default may be left out; a local build sets it.
  const used = commands.join("\n").matchAll(/\$(?:\{(?!\w+:-))?((?:SOURCE|ARTIFACT|IMAGE|PROJECT)_[A-Z]+)/g);
  const exported: string[] = buildspec.env["exported-variables"];
  const names = new Set([...used].map(([, name = ""]) => name).filter((name) => !exported.includes(name)));
  // The function that gives it access reads the others from what CodeBuild says the build was started with.
  const buildAccess = readFileSync(join(root, "lambdas/aws/build-access.ts"), "utf8");
  for (const [, name = ""] of buildAccess.matchAll(/^ {2}([A-Z]+_[A-Z]+): z\./gm)) names.add(name);
  expect([...names].sort()).toEqual(told.sort());
  expect(exported).toContain("IMAGE_DIGEST");
});

it("the upload is awaited for as long as its address is valid", () => {
  const awaiting = tasks.find(([name]) => name === "AwaitUpload");
  expect(awaiting?.[1].TimeoutSeconds).toBe(limits.uploadWaitSeconds);
});

const integration = z.object({ timeoutInMillis: z.int(), uri: z.object({ "Fn::Sub": z.string() }) });
const definedApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.looseObject({}))) });

it("a function behind the API answers before API Gateway gives up", () => {
  const [, api] = ofType("AWS::ApiGatewayV2::Api")[0] ?? [];
  const operations = Object.values(definedApi.parse(api?.Properties.Body).paths).flatMap(Object.values);
  const timeoutOf = new Map(functions().map(({ id, timeout }) => [id, timeout]));
  expect(operations.length).toBeGreaterThan(80);
  for (const operation of operations) {
    const { timeoutInMillis, uri } = integration.parse(operation["x-amazon-apigateway-integration"]);
    expect(timeoutInMillis).toBe(29_000);
    const id = /:function:\$\{AWS::StackName\}-([\w-]+)\/invocations$/.exec(uri["Fn::Sub"])?.[1] ?? "";
    expect([id, timeoutOf.get(id)]).toEqual([id, expect.any(Number)]);
    expect(timeoutOf.get(id)).toBeLessThan(29);
  }
});

it("executions of both state machines are traced and logged, without their data", () => {
  for (const [id, { Properties }] of ofType("AWS::StepFunctions::StateMachine")) {
    expect([id, Properties.TracingConfiguration]).toEqual([id, { Enabled: true }]);
    const { Destinations, ...logging } = Properties.LoggingConfiguration;
    expect([id, logging]).toEqual([id, { Level: "ALL", IncludeExecutionData: false }]);
    const [{ CloudWatchLogsLogGroup: group }] = Destinations;
    expect(written(group.LogGroupArn)).toMatch(/^<(Deployment|Removals)Output/);
  }
});

it("each function has the time that its step or listener is given, and a removal's step waits longer than its function", () => {
  const given = Object.entries({ ...steps, ...removalSteps, ...listeners, ...imageBuildServices });
  const timeoutOf = new Map(functions().map(({ id, timeout }) => [id, timeout]));
  expect(given.map(([id]) => [id, timeoutOf.get(id)])).toEqual(given.map(([id, one]) => [id, one.timeoutSeconds]));
  expect(timeoutOf.get("operator")).toBeGreaterThanOrEqual(60);
  const removal: { States: Record<string, { Type: string; TimeoutSeconds?: number }> } = JSON.parse(
    readFileSync(join(root, "statemachines/removal.asl.json"), "utf8"),
  );
  const removing = Object.values(removal.States).filter(({ Type }) => Type === "Task");
  expect(removing.length).toBeGreaterThan(5);
  for (const { TimeoutSeconds } of removing) expect(TimeoutSeconds).toBeGreaterThan(removalSteps.remove.timeoutSeconds);
});
