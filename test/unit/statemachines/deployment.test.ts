import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as z from "zod";

const retryRule = z.object({ ErrorEquals: z.array(z.string()) }).catchall(z.unknown());
const state = z.looseObject({
  Type: z.string(),
  Retry: z.array(retryRule).optional(),
  Catch: z.array(z.object({ ErrorEquals: z.array(z.string()), Next: z.string() }).catchall(z.unknown())).optional(),
  Next: z.string().optional(),
  Default: z.string().optional(),
  Choices: z.array(z.looseObject({ Next: z.string() })).optional(),
});
const file = new URL("../../../statemachines/deployment.asl.json", import.meta.url);
const machine = z
  .object({ StartAt: z.string(), States: z.record(z.string(), state) })
  .parse(JSON.parse(readFileSync(file, "utf8")));
const tasks = Object.entries(machine.States).filter(([, { Type }]) => Type === "Task");
const retryOf = (name: string) => machine.States[name]?.Retry;

const transientErrors = [
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
  "Lambda.ClientExecutionTimeoutException",
  "TransientFault",
];

/** The function was ended before it answered: by Lambda's time-out, for its memory, or by itself. */
const endedFunction = ["Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "Runtime.OutOfMemory"];

test("the steps before the swap share one retry rule: transient errors, for some two minutes", () => {
  const shared = {
    ErrorEquals: transientErrors,
    IntervalSeconds: 1,
    MaxAttempts: 8,
    BackoffRate: 2,
    MaxDelaySeconds: 30,
    JitterStrategy: "FULL",
  };
  for (const name of ["AwaitUpload", "CopyArchive", "Analyze", "Release", "Deploy"])
    expect([name, retryOf(name)?.[1]]).toEqual([name, shared]);
});

test("all steps before the end wait some five minutes for a free place: a new account runs ten functions at once", () => {
  const throttled = { ErrorEquals: ["Lambda.TooManyRequestsException"], MaxAttempts: 40, MaxDelaySeconds: 15 };
  for (const name of ["AwaitUpload", "CopyArchive", "Analyze", "Release", "Deploy", "CheckHealth"])
    expect([name, retryOf(name)?.[0]]).toEqual([
      name,
      { ...throttled, IntervalSeconds: 1, BackoffRate: 2, JitterStrategy: "FULL" },
    ]);
});

test("a function that ended without an answer is invoked twice more; only the wait for an upload ends at its time-out", () => {
  const rule = { IntervalSeconds: 1, MaxAttempts: 2, BackoffRate: 2, JitterStrategy: "FULL" };
  for (const name of ["AwaitUpload", "CopyArchive", "Analyze", "Release", "Deploy", "CheckHealth"]) {
    const ErrorEquals = name === "AwaitUpload" ? endedFunction : [...endedFunction, "States.Timeout"];
    expect([name, retryOf(name)?.slice(2)]).toEqual([name, [{ ErrorEquals, ...rule }]]);
  }
});

test("the health check retries the same errors more often: half a minute of throttling does not cost a healthy version", () => {
  const [, shared] = retryOf("Deploy") ?? [];
  expect(retryOf("CheckHealth")?.[1]).toEqual({ ...shared, MaxAttempts: 12, MaxDelaySeconds: 10 });
});

/** The mean and the deviation of all waits together: with full jitter each one is drawn evenly from 0 to its delay. */
function waitSeconds({ IntervalSeconds, MaxAttempts, BackoffRate, MaxDelaySeconds }: Record<string, unknown>) {
  const numbers = [IntervalSeconds, MaxAttempts, BackoffRate, MaxDelaySeconds].map(Number);
  const [interval = 0, attempts = 0, rate = 0, longest = 0] = numbers;
  const delays = Array.from({ length: attempts }, (_, attempt) => Math.min(interval * rate ** attempt, longest));
  return {
    mean: delays.reduce((sum, delay) => sum + delay / 2, 0),
    deviation: Math.sqrt(delays.reduce((sum, delay) => sum + delay ** 2 / 12, 0)),
  };
}

test.each([
  "AwaitUpload",
  "CopyArchive",
  "Analyze",
  "BuildImage",
  "Release",
  "Deploy",
  "CheckHealth",
  "Finish",
  "RollBack",
  "FailBuild",
])("the retries of %s outlast throttling of 30 s", (name) => {
  // An attempt that is throttled lasts about a second and a half by itself: the SDK repeats its call three times.
  const throttled = ["TransientFault", "CodeBuild.CodeBuildException", "States.ALL"];
  const rule = retryOf(name)?.find(({ ErrorEquals }) => ErrorEquals.some((error) => throttled.includes(error)));
  if (!rule) throw new Error(`${name} does not retry what is throttled`);
  const { mean, deviation } = waitSeconds(rule);
  expect(mean + 1.5 * Number(rule.MaxAttempts) - 2.5 * deviation).toBeGreaterThan(30);
});

test("the steps that end a build share one retry rule: every error, for some ten minutes", () => {
  const shared = [
    {
      ErrorEquals: ["States.ALL"],
      IntervalSeconds: 1,
      MaxAttempts: 20,
      BackoffRate: 2,
      MaxDelaySeconds: 30,
      JitterStrategy: "FULL",
    },
  ];
  for (const name of ["Finish", "RollBack", "FailBuild"]) expect([name, retryOf(name)]).toEqual([name, shared]);
});

test("every task retries, and every task that can leave a build unfinished says where its errors lead", () => {
  for (const [name, { Retry, Catch }] of tasks) {
    expect([name, Retry?.length]).not.toEqual([name, undefined]);
    const caught = Catch?.map(({ ErrorEquals, Next }) => [...ErrorEquals, Next]);
    const ends = ["Finish", "RollBack", "FailBuild"].includes(name);
    expect([name, caught?.at(-1)?.[0]]).toEqual([name, ends ? undefined : "States.ALL"]);
  }
});

test("an error leads to FailBuild before the swap, and to RollBack once a new version may run", () => {
  const leads = Object.fromEntries(tasks.map(([name, { Catch }]) => [name, Catch?.at(-1)?.Next]));
  expect(leads).toEqual({
    AwaitUpload: "FailBuild",
    CopyArchive: "FailBuild",
    Analyze: "FailBuild",
    BuildImage: "FailBuild",
    Release: "FailBuild",
    Deploy: "RollBack",
    CheckHealth: "RollBack",
    Finish: undefined,
    RollBack: undefined,
    FailBuild: undefined,
  });
});

test("a repeated StartBuild finds the build that it has started: its idempotency token is the execution's name", () => {
  expect(machine.States.BuildImage).toMatchObject({
    Arguments: { IdempotencyToken: "{% $states.context.Execution.Name %}" },
  });
});

test("the file reads from top to bottom: no state but a loop's leads upward", () => {
  const names = Object.keys(machine.States);
  const upward = Object.entries(machine.States).flatMap(([name, { Next, Default, Choices = [], Catch = [] }]) =>
    [Next, Default, ...Choices.map((choice) => choice.Next), ...Catch.map((rule) => rule.Next)]
      .filter((target) => target !== undefined && names.indexOf(target) < names.indexOf(name))
      .map((target) => `${name} → ${target}`),
  );
  expect(names[0]).toBe(machine.StartAt);
  expect(upward).toEqual([
    "IsReleased → Release",
    "AwaitQuietService → Deploy",
    "IsHealthy → CheckHealth",
    "IsRolledBack → RollBack",
  ]);
});
