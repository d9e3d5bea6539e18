import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";

const rule = z.looseObject({ ErrorEquals: z.array(z.string()) });
const state = z.object({
  Type: z.string(),
  TimeoutSeconds: z.int().optional(),
  Retry: z.array(rule).default([]),
  Catch: z.array(rule.extend({ Next: z.string() })).default([]),
  Choices: z.array(z.object({ Condition: z.string(), Next: z.string() })).default([]),
});
const file = new URL("../../../statemachines/deployment.asl.json", import.meta.url);
const machine = z
  .object({ TimeoutSeconds: z.int(), States: z.record(z.string(), state) })
  .parse(JSON.parse(readFileSync(file, "utf8")));
const states = Object.entries(machine.States);

test("a canceled build is dropped at its next stage boundary, without an error", () => {
  const dropping = states.flatMap(([name, { Catch }]) =>
    Catch.filter(({ Next }) => Next === "Dropped").map(({ ErrorEquals }) => [name, ...ErrorEquals]),
  );
  expect(dropping).toEqual(
    ["AwaitUpload", "CopyArchive", "Analyze", "Release", "Deploy"].map((name) => [name, "BuildCanceled"]),
  );
});

test("each choice asks for what the step before has said", () => {
  const choices = states.flatMap(([name, { Choices }]) =>
    Choices.map(({ Condition, Next }) => `${name}: ${Condition.slice(3, -3)} → ${Next}`),
  );
  expect(choices).toEqual([
    "HowTheSourceArrives: $states.input.source = 'copy' → CopyArchive",
    "HasReleaseCommand: $states.input.releases → Release",
    "IsReleased: $states.input.released → Deploy",
    "IsDeploying: $states.input.deployed.waiting → AwaitQuietService",
    "IsHealthy: $states.input.health.verdict = 'healthy' → Finish",
    "IsHealthy: $states.input.health.verdict = 'unhealthy' → RollBack",
    "IsRolledBack: $states.input.done → Failed",
  ]);
});

test("an image build waits for a free place for most of an hour, and retries CodeBuild's own faults", () => {
  const [limit, fault] = machine.States.BuildImage?.Retry ?? [];
  expect(limit).toMatchObject({ ErrorEquals: ["CodeBuild.AccountLimitExceededException"], MaxAttempts: 60 });
  expect(fault).toMatchObject({ ErrorEquals: ["CodeBuild.CodeBuildException", "CodeBuild.SdkClientException"] });
});

test("every task has a time limit, and together they fit into the state machine's time limit", () => {
  const limits = states.flatMap(([name, { Type, TimeoutSeconds }]) =>
    Type === "Task" ? [[name, TimeoutSeconds]] : [],
  );
  expect(limits.filter(([, seconds]) => seconds === undefined)).toEqual([]);
  const sum = limits.reduce((seconds, [, limit]) => seconds + Number(limit), 0);
  expect(machine.TimeoutSeconds).toBeGreaterThan(sum);
});
