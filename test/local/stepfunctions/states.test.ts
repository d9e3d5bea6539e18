import { expect, test } from "vitest";
import { TaskError } from "../../../local/stepfunctions/interpreter/errors.ts";
import { LAMBDA, lambdas, machine, startLocal, virtualClock } from "./harness.ts";

const end = (output: unknown) => ({ Type: "Pass", Output: output, End: true });
const invoke = (name: string, more: Record<string, unknown> = {}) => ({
  Type: "Task",
  Resource: LAMBDA,
  Arguments: { FunctionName: name, Payload: "{% $states.input %}" },
  ...more,
});

const functions = {
  echo: (payload: unknown) => payload,
  big: () => "x".repeat(256 * 1024),
  missing: () => undefined,
  boom: () => {
    throw new TaskError("RangeError", JSON.stringify({ errorType: "RangeError", errorMessage: "too far" }));
  },
  defect: () => {
    throw new Error("a defect of the integration");
  },
};

const succeeding: [string, Record<string, unknown>, unknown, unknown][] = [
  ["a Pass without Output hands its input on", { A: { Type: "Pass", End: true } }, { a: [1, null] }, { a: [1, null] }],
  ["Output may be any JSON value", { A: end([1, "two", { three: null }]) }, {}, [1, "two", { three: null }]],
  [
    "expressions stand at any depth, and only in whole strings",
    { A: end({ a: ["{% $states.input.n + 1 %}", "$states.input.n"], b: { c: "{% $states.input %}" } }) },
    { n: 1 },
    { a: [2, "$states.input.n"], b: { c: { n: 1 } } },
  ],
  ["an undefined field within a JSONata object is left out", { A: end("{% {'a': $states.input.a} %}") }, {}, {}],
  ["an array of one stays an array", { A: end("{% $states.input.a %}") }, { a: [1] }, [1]],
  [
    "Assign and Output both see the variables as they were on entry",
    {
      A: { Type: "Pass", Assign: { x: 1 }, Next: "B" },
      B: { Type: "Pass", Assign: { x: "{% $x + 1 %}", y: "{% $x %}" }, Output: "{% $x %}", Next: "C" },
      C: end("{% {'input': $states.input, 'x': $x, 'y': $y} %}"),
    },
    {},
    { input: 1, x: 2, y: 1 },
  ],
  [
    "a Choice takes the first rule that is true, with the rule's own Output and Assign",
    {
      A: {
        Type: "Choice",
        Choices: [
          { Condition: "{% $states.input.n > 9 %}", Next: "Z" },
          {
            Condition: "{% $states.input.n > 1 %}",
            Output: { rule: 2 },
            Assign: { seen: "{% $states.input.n %}" },
            Next: "Z",
          },
          { Condition: "{% true %}", Next: "Z" },
        ],
        Output: "default",
        Default: "Z",
      },
      Z: end("{% {'in': $states.input, 'seen': $seen} %}"),
    },
    { n: 5 },
    { in: { rule: 2 }, seen: 5 },
  ],
  [
    "a Choice without a match takes Default with the state's own Output and Assign",
    {
      A: {
        Type: "Choice",
        Choices: [{ Condition: "{% false %}", Output: "rule", Next: "Z" }],
        Output: "default",
        Assign: { seen: true },
        Default: "Z",
      },
      Z: end("{% [$states.input, $seen] %}"),
    },
    {},
    ["default", true],
  ],
  ["Succeed ends with its Output", { A: { Type: "Succeed", Output: "{% $states.input.a %}" } }, { a: 7 }, 7],
  [
    "a Task's Output sees $states.result beside $states.input",
    {
      A: invoke("echo", {
        Output: "{% [$states.result.Payload.a, $states.input.a, $states.result.StatusCode] %}",
        End: true,
      }),
    },
    { a: 3 },
    [3, 3, 200],
  ],
  [
    "a Task's result is its output by default",
    { A: invoke("echo", { End: true }) },
    { a: 3 },
    { ExecutedVersion: "$LATEST", Payload: { a: 3 }, StatusCode: 200 },
  ],
  [
    "a Catch passes on $states.errorOutput, with the error's name and its cause as JSON text",
    {
      A: invoke("boom", { End: true, Catch: [{ ErrorEquals: ["States.ALL"], Next: "Z" }] }),
      Z: end("{% $merge([$states.input, {'message': $parse($states.input.Cause).errorMessage}]) %}"),
    },
    {},
    { Error: "RangeError", Cause: '{"errorType":"RangeError","errorMessage":"too far"}', message: "too far" },
  ],
  [
    "a Catch's Output and Assign see the input, the error and the variables",
    {
      S: { Type: "Pass", Assign: { tries: 1 }, Next: "A" },
      A: invoke("boom", {
        End: true,
        Catch: [
          {
            ErrorEquals: ["RangeError"],
            Next: "Z",
            Output: "{% $states.errorOutput.Error %}",
            Assign: { tries: "{% $tries + $states.input.n %}" },
          },
        ],
      }),
      Z: end("{% [$states.input, $tries] %}"),
    },
    { n: 2 },
    ["RangeError", 3],
  ],
  [
    "catchers are tried in their order",
    {
      A: invoke("boom", {
        End: true,
        Catch: [
          { ErrorEquals: ["TypeError", "States.Timeout"], Next: "Z", Output: 1 },
          { ErrorEquals: ["States.TaskFailed"], Next: "Z", Output: 2 },
          { ErrorEquals: ["RangeError"], Next: "Z", Output: 3 },
          { ErrorEquals: ["States.ALL"], Next: "Z", Output: 4 },
        ],
      }),
      Z: { Type: "Succeed" },
    },
    {},
    2,
  ],
  [
    "an expression that fails within a Task can be caught",
    {
      A: {
        ...invoke("echo"),
        Arguments: { FunctionName: "echo", Payload: "{% $states.input.absent %}" },
        End: true,
        Catch: [{ ErrorEquals: ["States.QueryEvaluationError"], Next: "Z", Output: "caught" }],
      },
      Z: { Type: "Succeed" },
    },
    {},
    "caught",
  ],
  [
    "the context object names execution, state and machine",
    {
      A: end(
        "{% [$states.context.Execution.Input.a, $states.context.State.Name, $states.context.State.RetryCount, $states.context.StateMachine.Name, $states.context.StateMachine.Id, $split($states.context.Execution.Id, ':')[6], $states.context.Execution.RoleArn, $states.context.Execution.StartTime = $states.context.State.EnteredTime] %}",
      ),
    },
    { a: 1 },
    [
      1,
      "A",
      0,
      "deployment",
      "arn:aws:states:us-east-1:123456789012:stateMachine:deployment",
      "deployment",
      "arn:aws:iam::123456789012:role/step-functions",
      true,
    ],
  ],
  ["a Wait of 0 seconds ends at once", { A: { Type: "Wait", Seconds: 0, End: true } }, 5, 5],
  [
    "$range gives a sequence as in Step Functions, with its bounds cut to integers",
    {
      A: end({
        one: "{% $range(1, 9, 9) %}",
        array: "{% [$range(1, 9, 9)] %}",
        nothing: "{% [$range(3, 0, 1), $range(1, 9, 0)] %}",
        exists: "{% $exists($range(3, 0, 1)) %}",
        down: "{% $range(2.8, -1.2, -1.2) %}",
        up: "{% $range(-1.7, 2, 1) %}",
        long: "{% $count($range(1, 200000, 1)) %}",
      }),
    },
    {},
    { one: 1, array: [1], nothing: [], exists: false, down: [2, 1, 0, -1], up: [-1, 0, 1, 2], long: 200_000 },
  ],
  [
    "$random gives the number that Step Functions gives for a seed",
    { A: end("{% $random(42) %}") },
    {},
    0.7275636800328681,
  ],
  [
    "Step Functions' own functions",
    {
      A: end({
        partition: "{% $partition([1,2,3,4,5], 2) %}",
        range: "{% [$range(0, 10, 5), $range(3, 1, -1)] %}",
        hash: "{% $hash('a', 'SHA-256') %}",
        md5: "{% $hash('a', 'MD5') %}",
        parse: "{% $parse('{\"a\":[1]}').a %}",
        seeded: "{% $random(7) = $random(7) and $random(7) != $random(8) and $random() < 1 %}",
        uuid: "{% $match($uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4/)[0].index %}",
      }),
    },
    {},
    {
      partition: [[1, 2], [3, 4], [5]],
      range: [0, 5, 10, 3, 2, 1],
      hash: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
      md5: "0cc175b9c0f1b6a831c399e269772661",
      parse: [1],
      seeded: true,
      uuid: 0,
    },
  ],
];

test.each(succeeding)("%s", async (_, states, input, output) => {
  const local = await startLocal({ definition: machine(states), integrations: lambdas(functions) });
  const execution = await local.run(input);
  expect([execution.status, execution.error, execution.cause]).toEqual(["SUCCEEDED", undefined, undefined]);
  expect(JSON.parse(execution.output ?? "")).toEqual(output);
});

const failing: [string, Record<string, unknown>, unknown, string | undefined, string | undefined][] = [
  [
    "Fail with JSONata",
    { A: { Type: "Fail", Error: "{% $states.input.e %}", Cause: "{% 'because ' & $states.input.e %}" } },
    { e: "Boom" },
    "Boom",
    "because Boom",
  ],
  ["Fail without Error and Cause", { A: { Type: "Fail" } }, {}, undefined, undefined],
  [
    "a Fail whose Cause is not a string",
    { A: { Type: "Fail", Cause: "{% 1 %}" } },
    {},
    "States.QueryEvaluationError",
    "Expected 'string'",
  ],
  [
    "an expression that gives nothing",
    { A: end({ a: ["{% $states.input.absent %}"] }) },
    {},
    "States.QueryEvaluationError",
    "An error occurred while executing the state 'A' (entered at the event id #2). The JSONata expression '$states.input.absent' specified for the field 'Output/a[0]' returned nothing (undefined).",
  ],
  [
    "an expression that gives a function",
    { A: end("{% $sum %}") },
    {},
    "States.QueryEvaluationError",
    "unsupported result type",
  ],
  [
    "a function within a result",
    { A: end("{% {'f': function($x){$x}} %}") },
    {},
    "States.QueryEvaluationError",
    "unsupported result type",
  ],
  [
    "an expression that throws",
    { A: end("{% $number($states.input.s) %}") },
    { s: "top-secret" },
    "States.QueryEvaluationError",
    "threw the error D3030",
  ],
  [
    "$error has the author's message",
    { A: end("{% $error('no plan') %}") },
    {},
    "States.QueryEvaluationError",
    "no plan",
  ],
  [
    "a Condition that is not a boolean",
    { A: { Type: "Choice", Choices: [{ Condition: "{% 1 %}", Next: "Z" }] }, Z: end(1) },
    {},
    "States.QueryEvaluationError",
    "Choices[0]/Condition",
  ],
  [
    "a Choice without a match and without Default",
    { A: { Type: "Choice", Choices: [{ Condition: "{% false %}", Next: "Z" }] }, Z: end(1) },
    {},
    "States.NoChoiceMatched",
    undefined,
  ],
  [
    "a Wait for a fraction of a second",
    { A: { Type: "Wait", Seconds: "{% 0.5 %}", End: true } },
    {},
    "States.QueryEvaluationError",
    "'Seconds'",
  ],
  [
    "a Wait until an invalid time",
    { A: { Type: "Wait", Timestamp: "{% 'soon' %}", End: true } },
    {},
    "States.QueryEvaluationError",
    "'Timestamp'",
  ],
  [
    "a TimeoutSeconds of 0",
    { A: invoke("echo", { TimeoutSeconds: "{% 0 %}", End: true }) },
    {},
    "States.QueryEvaluationError",
    "'TimeoutSeconds'",
  ],
  [
    "a function error without a matching Retry or Catch",
    { A: invoke("boom", { End: true }) },
    {},
    "RangeError",
    '{"errorType":"RangeError","errorMessage":"too far"}',
  ],
  [
    "an internal error of an integration",
    { A: invoke("defect", { End: true }) },
    {},
    "States.TaskFailed",
    "Error: a defect",
  ],
  [
    "an output above 256 KiB, though States.ALL is caught",
    { A: invoke("big", { End: true, Catch: [{ ErrorEquals: ["States.ALL"], Next: "Z" }] }), Z: end(1) },
    {},
    "States.DataLimitExceeded",
    undefined,
  ],
  [
    "a Pass whose output is too large",
    { A: end("{% $join($map($range(1, 3000, 1), function(){ $pad('', 100, 'x') })) %}") },
    {},
    "States.DataLimitExceeded",
    undefined,
  ],
  [
    "a Catch whose Output fails",
    {
      A: invoke("boom", {
        End: true,
        Catch: [{ ErrorEquals: ["States.ALL"], Next: "Z", Output: "{% $states.input.absent %}" }],
      }),
      Z: end(1),
    },
    {},
    "States.QueryEvaluationError",
    "Catch[0]/Output",
  ],
];

test.each(failing)("the execution fails: %s", async (_, states, input, error, cause) => {
  const local = await startLocal({ definition: machine(states), integrations: lambdas(functions) });
  const execution = await local.run(input);
  expect([execution.status, execution.error]).toEqual(["FAILED", error]);
  if (cause === undefined) return;
  expect(execution.cause).toContain(cause);
  expect(execution.cause).not.toContain("top-secret");
});

test("States.DataLimitExceeded can be caught by its own name", async () => {
  const states = {
    A: invoke("big", { End: true, Catch: [{ ErrorEquals: ["States.DataLimitExceeded"], Next: "Z", Output: 1 }] }),
    Z: { Type: "Succeed" },
  };
  const local = await startLocal({ definition: machine(states), integrations: lambdas(functions) });
  expect((await local.run()).output).toBe("1");
});

test("a Wait lasts its seconds, or until its timestamp, on the injected clock", async () => {
  const clock = virtualClock(true);
  const states = {
    A: {
      Type: "Wait",
      Seconds: "{% $states.input.seconds %}",
      Assign: { begun: "{% $states.context.State.EnteredTime %}" },
      Next: "B",
    },
    B: {
      Type: "Wait",
      Timestamp: "{% $fromMillis($toMillis($states.context.State.EnteredTime) + 3600000) %}",
      Next: "C",
    },
    C: { Type: "Wait", Timestamp: "2020-01-01T00:00:00Z", Next: "D" },
    D: end("{% $toMillis($states.context.State.EnteredTime) - $toMillis($begun) %}"),
  };
  const local = await startLocal({ definition: machine(states), clock });
  expect((await local.run({ seconds: 30 })).output).toBe(String(30_000 + 3_600_000));
});

test("an endless loop is ended at 25,000 events, and other executions run meanwhile", async () => {
  const states = {
    A: { Type: "Choice", Choices: [{ Condition: "{% $states.input.round %}", Next: "B" }], Default: "Z" },
    B: { Type: "Pass", Next: "A" },
    Z: { Type: "Succeed" },
  };
  const local = await startLocal({ definition: machine(states) });
  const round = await local.start({ round: true });
  const other = await local.start({ round: false });
  expect((await local.describe(round)).status).toBe("RUNNING");
  await expect.poll(async () => (await local.describe(other)).status).toBe("SUCCEEDED");
  await local.sfn.idle();
  expect(await local.describe(round)).toMatchObject({ status: "FAILED", error: "States.Runtime" });
});
