import {
  GetExecutionHistoryCommand,
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
} from "@aws-sdk/client-sfn";
import { expect, test } from "vitest";
import { TaskError } from "../../../local/stepfunctions/interpreter/errors.ts";
import {
  codeBuildResult,
  type Integrations,
  lambdaFailure,
} from "../../../local/stepfunctions/interpreter/resources.ts";
import { retryDelaySeconds } from "../../../local/stepfunctions/interpreter/retry.ts";
import { LAMBDA, LAMBDA_TOKEN, lambdas, machine, START_BUILD, startLocal, virtualClock } from "./harness.ts";

const invoke = (more: Record<string, unknown>) => ({
  Type: "Task",
  Resource: LAMBDA,
  Arguments: { FunctionName: "f" },
  Next: "Z",
  ...more,
});
const done = { Type: "Succeed" };
const caught = (names: string[]) => [{ ErrorEquals: names, Next: "Z", Output: "{% $states.errorOutput %}" }];

/** A Lambda that fails with the given errors in turn, then answers; it records the times of its calls. */
function failingWith(errors: string[], now: () => Date) {
  const calls: number[] = [];
  const f = () => {
    calls.push(now().getTime());
    const error = errors[calls.length - 1];
    if (error !== undefined) throw new TaskError(error);
    return "fine";
  };
  return {
    calls,
    gaps: () => calls.slice(1).map((at, i) => (at - (calls[i] ?? 0)) / 1_000),
    integrations: lambdas({ f }),
  };
}

test("delays grow by BackoffRate up to MaxDelaySeconds, then the Task succeeds", async () => {
  const clock = virtualClock(true);
  const lambda = failingWith(["E", "E", "E", "E"], clock.now);
  const retry = { ErrorEquals: ["E"], IntervalSeconds: 10, BackoffRate: 3, MaxDelaySeconds: 60, MaxAttempts: 4 };
  const states = { A: invoke({ Retry: [retry], Output: "{% $states.context.State.RetryCount %}" }), Z: done };
  const local = await startLocal({ definition: machine(states), clock, integrations: lambda.integrations });
  expect(await local.run()).toMatchObject({ status: "SUCCEEDED", output: "4" });
  expect(lambda.gaps()).toEqual([10, 30, 60, 60]);
});

test("each retrier counts its own attempts, and after its last one the catchers follow, never a later retrier", async () => {
  const clock = virtualClock(true);
  const lambda = failingWith(["A", "B", "A", "A"], clock.now);
  const states = {
    A: invoke({
      Retry: [
        { ErrorEquals: ["A"], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 2 },
        { ErrorEquals: ["B"], IntervalSeconds: 5 },
        { ErrorEquals: ["States.ALL"], IntervalSeconds: 100 },
      ],
      Catch: caught(["States.ALL"]),
    }),
    Z: done,
  };
  const local = await startLocal({ definition: machine(states), clock, integrations: lambda.integrations });
  expect(await local.run()).toMatchObject({ output: '{"Error":"A"}' });
  expect(lambda.gaps()).toEqual([1, 5, 2]);
});

test("MaxAttempts 0 never retries, and without MaxAttempts there are three", async () => {
  for (const [retry, calls] of [
    [{ ErrorEquals: ["States.TaskFailed"], MaxAttempts: 0 }, 1],
    [{ ErrorEquals: ["States.ALL"] }, 4],
  ] as const) {
    const clock = virtualClock(true);
    const lambda = failingWith(Array(9).fill("E"), clock.now);
    const states = { A: invoke({ Retry: [retry] }), Z: done };
    const local = await startLocal({ definition: machine(states), clock, integrations: lambda.integrations });
    expect((await local.run()).error).toBe("E");
    expect(lambda.calls.length).toBe(calls);
  }
});

test("FULL jitter chooses from the whole delay", () => {
  const retrier = {
    ErrorEquals: ["E"],
    IntervalSeconds: 4,
    BackoffRate: 2,
    MaxAttempts: 9,
    JitterStrategy: "FULL",
  } as const;
  const full = { ...retrier, ErrorEquals: ["E"] };
  expect([0, 0.5, 0.99].map((random) => retryDelaySeconds(full, 1, () => random))).toEqual([0, 4, 7.92]);
});

test.each(["States.Runtime", "States.DataLimitExceeded"])(
  "%s is neither retried nor caught by States.ALL",
  async (error) => {
    const clock = virtualClock(true);
    const lambda = failingWith([error], clock.now);
    const states = {
      A: invoke({ Retry: [{ ErrorEquals: ["States.TaskFailed"] }], Catch: caught(["States.ALL"]) }),
      Z: done,
    };
    const local = await startLocal({ definition: machine(states), clock, integrations: lambda.integrations });
    expect(await local.run()).toMatchObject({ status: "FAILED", error });
    expect(lambda.calls.length).toBe(1);
  },
);

const never: (signal: AbortSignal) => Promise<never> = (signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));

test("a Task that runs too long is States.Timeout: its signal is aborted, and States.TaskFailed does not match", async () => {
  const clock = virtualClock(true);
  const signals: AbortSignal[] = [];
  const integrations: Integrations = {
    [START_BUILD]: (_, { signal }) => {
      signals.push(signal);
      return never(signal);
    },
  };
  const states = {
    A: {
      Type: "Task",
      Resource: START_BUILD,
      Arguments: { ProjectName: "p" },
      TimeoutSeconds: "{% $states.input.limit %}",
      Retry: [{ ErrorEquals: ["States.Timeout"], MaxAttempts: 1 }],
      Catch: [...caught(["States.TaskFailed"]), { ErrorEquals: ["States.Timeout"], Next: "Z", Output: "too long" }],
      End: true,
    },
    Z: done,
  };
  const local = await startLocal({ definition: machine(states), clock, integrations });
  expect(await local.run({ limit: 900 })).toMatchObject({ output: '"too long"' });
  expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
});

test("an execution that runs too long is TIMED_OUT, even if it catches every error", async () => {
  const clock = virtualClock(true);
  const integrations: Integrations = { [LAMBDA]: (_, { signal }) => never(signal) };
  const states = { A: invoke({ TimeoutSeconds: 900, Catch: caught(["States.ALL"]) }), Z: done };
  const local = await startLocal({ definition: machine(states, { TimeoutSeconds: 60 }), clock, integrations });
  const execution = await local.run();
  expect(execution).toMatchObject({ status: "TIMED_OUT", redriveStatus: "REDRIVABLE" });
  // As on AWS, only the history contains the error of a time-out.
  expect(execution).not.toHaveProperty("error");
  expect(execution).not.toHaveProperty("cause");
  const { executionArn } = execution;
  const { events } = await local.client.send(new GetExecutionHistoryCommand({ executionArn, reverseOrder: true }));
  expect(events?.[0]).toMatchObject({
    type: "ExecutionTimedOut",
    executionTimedOutEventDetails: { error: "States.Timeout" },
  });
  expect((execution.stopDate?.getTime() ?? 0) - (execution.startDate?.getTime() ?? 0)).toBe(60_000);
});

test("a failed build is States.TaskFailed with the build in its cause, a successful one returns {Build}", async () => {
  const integrations: Integrations = {
    [START_BUILD]: async (args) => {
      const { SourceVersion } = args as { SourceVersion: string };
      const phases = [{ phaseType: "BUILD", startTime: new Date(5) }];
      return codeBuildResult({ buildStatus: SourceVersion, ...{ buildNumber: 1, phases } });
    },
  };
  const states = {
    A: {
      Type: "Task",
      Resource: START_BUILD,
      Arguments: { ProjectName: "p", SourceVersion: "{% $states.input.v %}" },
      Catch: [
        {
          ErrorEquals: ["States.TaskFailed"],
          Next: "Z",
          Output: "{% $parse($states.errorOutput.Cause).Build.BuildStatus %}",
        },
      ],
      Next: "Z",
    },
    Z: done,
  };
  const local = await startLocal({ definition: machine(states), integrations });
  expect((await local.run({ v: "FAILED" })).output).toBe('"FAILED"');
  const good = { BuildStatus: "SUCCEEDED", BuildNumber: 1, Phases: [{ PhaseType: "BUILD", StartTime: 5 }] };
  expect(JSON.parse((await local.run({ v: "SUCCEEDED" })).output ?? "")).toEqual({ Build: good });
});

test("an error without a name fails the Task as well", () => {
  expect(lambdaFailure({ errorMessage: "x" })).toMatchObject({ error: "Error", cause: '{"errorMessage":"x"}' });
});

const tokenState = (more: Record<string, unknown> = {}) => ({
  A: {
    Type: "Task",
    Resource: LAMBDA_TOKEN,
    Arguments: { FunctionName: "f", Payload: "{% $states.context.Task.Token %}" },
    Next: "Z",
    ...more,
  },
  Z: done,
});

/** Keeps the tokens that a token Task passed to its function. */
function tokenKeeper(afterwards: (token: string) => Promise<unknown> = async () => undefined) {
  const tokens: string[] = [];
  const integrations: Integrations = {
    [LAMBDA]: async (args, { taskToken }) => {
      expect((args as { Payload: string }).Payload).toBe(taskToken);
      tokens.push(taskToken ?? "");
      return afterwards(taskToken ?? "");
    },
  };
  return { tokens, integrations };
}

test("a token's success is the state's result; the call's own result is discarded; a second answer is TaskTimedOut", async () => {
  const { tokens, integrations } = tokenKeeper(async () => "discarded");
  const local = await startLocal({ definition: machine(tokenState()), integrations });
  const arn = await local.start();
  await local.sfn.idle();
  expect((await local.describe(arn)).status).toBe("RUNNING");
  const success = new SendTaskSuccessCommand({ taskToken: tokens[0], output: '{"key":1}' });
  await local.client.send(success);
  await expect(local.client.send(success)).rejects.toMatchObject({ name: "TaskTimedOut" });
  await local.sfn.idle();
  expect(await local.describe(arn)).toMatchObject({ status: "SUCCEEDED", output: '{"key":1}' });
  await expect(local.client.send(success)).rejects.toMatchObject({
    name: "TaskTimedOut",
    message: "Task Timed Out: 'Provided task does not exist anymore'",
  });
});

test("a token's failure can be caught by its error", async () => {
  const { tokens, integrations } = tokenKeeper();
  const local = await startLocal({ definition: machine(tokenState({ Catch: caught(["Rejected"]) })), integrations });
  const arn = await local.start();
  await local.sfn.idle();
  await local.client.send(new SendTaskFailureCommand({ taskToken: tokens[0], error: "Rejected", cause: "not a zip" }));
  await local.sfn.idle();
  expect((await local.describe(arn)).output).toBe('{"Error":"Rejected","Cause":"not a zip"}');
});

test("a token's failure without an error is caught only by States.ALL", async () => {
  const { tokens, integrations } = tokenKeeper();
  const local = await startLocal({ definition: machine(tokenState({ Catch: caught(["States.ALL"]) })), integrations });
  const arn = await local.start();
  await local.sfn.idle();
  await local.client.send(new SendTaskFailureCommand({ taskToken: tokens[0] }));
  await local.sfn.idle();
  expect((await local.describe(arn)).output).toBe('{"Error":null,"Cause":null}');

  const uncaught = await startLocal({ definition: machine(tokenState()), integrations });
  const failed = await uncaught.start();
  await uncaught.sfn.idle();
  await uncaught.client.send(new SendTaskFailureCommand({ taskToken: tokens[1] }));
  await uncaught.sfn.idle();
  const execution = await uncaught.describe(failed);
  expect(execution.status).toBe("FAILED");
  expect(execution).not.toHaveProperty("error");
  expect(execution).not.toHaveProperty("cause");
});

test("a token may be answered before the call returns, and a later failure of the call is ignored", async () => {
  let answer: (token: string) => Promise<unknown> = async () => undefined;
  const { integrations } = tokenKeeper(async (token) => {
    await answer(token);
    throw new TaskError("TooLate");
  });
  const local = await startLocal({ definition: machine(tokenState()), integrations });
  answer = (taskToken) => local.client.send(new SendTaskSuccessCommand({ taskToken, output: "1" }));
  expect(await local.run()).toMatchObject({ status: "SUCCEEDED", output: "1" });
});

test("a token Task fails if its call fails; its token becomes invalid, and the retry has a new one", async () => {
  const clock = virtualClock(true);
  let calls = 0;
  const { tokens, integrations } = tokenKeeper(async () => {
    calls += 1;
    if (calls === 1) throw new TaskError("Lambda.TooManyRequestsException");
  });
  const retry = [{ ErrorEquals: ["Lambda.TooManyRequestsException"] }];
  const local = await startLocal({ definition: machine(tokenState({ Retry: retry })), integrations, clock });
  const arn = await local.start();
  await local.sfn.idle();
  const [first, second] = tokens;
  const send = (taskToken: string | undefined) =>
    local.client.send(new SendTaskSuccessCommand({ taskToken, output: "2" }));
  await expect(send(first)).rejects.toMatchObject({ name: "TaskTimedOut" });
  await send(second);
  await local.sfn.idle();
  expect((await local.describe(arn)).output).toBe("2");
});

test("after the time-out a token is TaskTimedOut, and the state States.Timeout", async () => {
  const clock = virtualClock(false);
  const { tokens, integrations } = tokenKeeper();
  const states = tokenState({ TimeoutSeconds: 3_600, Catch: caught(["States.Timeout"]) });
  const local = await startLocal({ definition: machine(states), integrations, clock });
  const arn = await local.start();
  await local.sfn.idle();
  await clock.advance(3_599_999);
  expect((await local.describe(arn)).status).toBe("RUNNING");
  await clock.advance(1);
  const late = new SendTaskSuccessCommand({ taskToken: tokens[0], output: "1" });
  await expect(local.client.send(late)).rejects.toMatchObject({ name: "TaskTimedOut" });
  await local.sfn.idle();
  expect((await local.describe(arn)).output).toBe('{"Error":"States.Timeout"}');
});

test.each(["States.HeartbeatTimeout", "States.Timeout", "States.ALL"])(
  "heartbeats keep a Task alive past HeartbeatSeconds; a missed one is taken by %s",
  async (name) => {
    const clock = virtualClock(false);
    const { tokens, integrations } = tokenKeeper();
    const states = tokenState({ TimeoutSeconds: 600, HeartbeatSeconds: 30, Catch: caught([name]) });
    const local = await startLocal({ definition: machine(states), integrations, clock });
    const arn = await local.start();
    await local.sfn.idle();
    const beat = new SendTaskHeartbeatCommand({ taskToken: tokens[0] });
    for (let beats = 0; beats < 3; beats++) {
      await clock.advance(29_000);
      await local.client.send(beat);
    }
    await clock.advance(29_999);
    expect((await local.describe(arn)).status).toBe("RUNNING");
    await clock.advance(1);
    await local.sfn.idle();
    expect((await local.describe(arn)).output).toBe('{"Error":"States.Timeout"}');
    await expect(local.client.send(beat)).rejects.toMatchObject({ name: "TaskTimedOut" });
  },
);

test("an invalid token is InvalidToken, a token of an unknown execution is TaskDoesNotExist", async () => {
  const { tokens, integrations } = tokenKeeper();
  const here = await startLocal({ definition: machine(tokenState()), integrations });
  const elsewhere = await startLocal({ definition: machine(tokenState()), integrations });
  await here.start();
  await here.sfn.idle();
  const token = tokens[0] ?? "";
  const send = (taskToken: string) => elsewhere.client.send(new SendTaskSuccessCommand({ taskToken, output: "1" }));
  await expect(send(token)).rejects.toMatchObject({ name: "TaskDoesNotExist" });
  for (const bad of ["nonsense", `${token}x`, `x${token}`, "W10.x", "."]) {
    await expect(send(bad)).rejects.toMatchObject({ name: "InvalidToken", message: "Invalid Token: 'Invalid token'" });
  }
  const malformed = new SendTaskSuccessCommand({ taskToken: token, output: "{" });
  await expect(here.client.send(malformed)).rejects.toMatchObject({ name: "InvalidOutput" });
});
