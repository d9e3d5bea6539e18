import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { DefinitionError } from "../../../local/stepfunctions/interpreter/errors.ts";
import { loadMachine } from "../../../local/stepfunctions/interpreter/machine.ts";
import type { Integrations } from "../../../local/stepfunctions/interpreter/resources.ts";
import { LAMBDA, LAMBDA_TOKEN, machine, START_BUILD } from "./harness.ts";

const validate: (definition: unknown) => { isValid: boolean; errorsText(): string } = createRequire(import.meta.url)(
  "asl-validator",
);

const nothing = async () => ({});
const integrations: Integrations = {
  [LAMBDA]: nothing,
  [START_BUILD]: nothing,
  "arn:aws:states:::aws-sdk:ecs:describeServices": nothing,
};

const task = (more: Record<string, unknown> = {}) => ({
  Type: "Task",
  Resource: LAMBDA,
  Arguments: { FunctionName: "analyze", Payload: "{% $states.input %}" },
  End: true,
  ...more,
});

/** A machine with every supported field. */
const everything = machine(
  {
    AwaitUpload: {
      Comment: "waits for the archive",
      Type: "Task",
      Resource: LAMBDA_TOKEN,
      Arguments: { FunctionName: "await-upload", Payload: { token: "{% $states.context.Task.Token %}" } },
      TimeoutSeconds: 3_600,
      HeartbeatSeconds: "{% $states.input.heartbeat %}",
      Assign: { upload: "{% $states.result %}" },
      Catch: [{ ErrorEquals: ["States.Timeout"], Next: "Expired", Output: "{% $states.errorOutput %}" }],
      Next: "Build",
    },
    Build: {
      Type: "Task",
      Resource: START_BUILD,
      Arguments: {
        ProjectName: "builder",
        EnvironmentVariablesOverride: [{ Name: "KEY", Value: "{% $upload.key %}" }],
      },
      Retry: [
        {
          ErrorEquals: ["CodeBuild.AccountLimitExceededException"],
          IntervalSeconds: 5,
          BackoffRate: 1.5,
          MaxAttempts: 9,
          MaxDelaySeconds: 60,
          JitterStrategy: "FULL",
        },
        { ErrorEquals: ["States.ALL"], MaxAttempts: 0 },
      ],
      Catch: [{ ErrorEquals: ["States.ALL"], Assign: { failure: "{% $states.errorOutput.Cause %}" }, Next: "Expired" }],
      Output: "{% $states.result.Build.{'digest': ExportedEnvironmentVariables[Name='D'].Value} %}",
      Next: "Live",
    },
    Live: {
      Type: "Task",
      Resource: "arn:aws:states:::aws-sdk:ecs:describeServices",
      Arguments: { Services: ["{% $states.input.service %}"] },
      Next: "Healthy",
    },
    Healthy: {
      Type: "Choice",
      Choices: [{ Condition: "{% $count($states.input.Services[$.Status = 'ACTIVE']) > 0 %}", Next: "Done" }],
      Default: "Pause",
    },
    Pause: { Type: "Wait", Seconds: 2, Next: "Note" },
    Note: { Type: "Pass", Assign: { noted: true }, Output: "{% ($x := $upload; $x.key) %}", Next: "Live" },
    Expired: { Type: "Fail", Error: "Expired", Cause: "{% $string($states.input) %}" },
    Done: { Type: "Succeed", Output: { ok: "{% $exists($states.input) %}" } },
  },
  { Comment: "one of everything", TimeoutSeconds: 86_400, Version: "1.0" },
);

test("a machine with every supported field is accepted, and asl-validator agrees", () => {
  expect(loadMachine(everything, integrations).states.size).toBe(8);
  const verdict = validate(everything);
  expect(verdict.isValid ? "" : verdict.errorsText()).toBe("");
});

const pass = (output: unknown) => machine({ A: { Type: "Pass", Output: output, End: true } });
const refused: [string, unknown, string][] = [
  ["no QueryLanguage", { StartAt: "A", States: { A: { Type: "Succeed" } } }, "QueryLanguage"],
  ["JSONPath", { ...Object(pass(1)), QueryLanguage: "JSONPath" }, "QueryLanguage"],
  ["an unknown field at the top", machine({ A: { Type: "Succeed" } }, { Timeout: 5 }), "Timeout"],
  ["an unknown field of a state", machine({ A: { Type: "Pass", Result: 1, End: true } }), "Result"],
  ["a JSONPath field", machine({ A: task({ ResultPath: "$.x" }) }), "ResultPath"],
  ["an unknown field of a retrier", machine({ A: task({ Retry: [{ ErrorEquals: ["E"], Max: 1 }] }) }), "Max"],
  [
    "an unknown field of a catcher",
    machine({ A: task({ Catch: [{ ErrorEquals: ["E"], Next: "A", ResultPath: "$" }] }) }),
    "ResultPath",
  ],
  ["a Parallel", machine({ A: { Type: "Parallel", Branches: [], End: true } }), "A/Type"],
  ["a Map", machine({ A: { Type: "Map", End: true } }), "A/Type"],
  ["Retry on a Pass", machine({ A: { Type: "Pass", End: true, Retry: [] } }), "Retry"],
  ["Next on a Succeed", machine({ A: { Type: "Succeed", End: true } }), "End"],
  ["neither Next nor End", machine({ A: { Type: "Pass" } }), "A: needs either Next or End"],
  ["both Next and End", machine({ A: { Type: "Pass", Next: "A", End: true } }), "A: needs either Next or End"],
  ["a Next that does not exist", machine({ A: { Type: "Pass", Next: "B" } }), "there is no state B"],
  ["a StartAt that does not exist", machine({ A: { Type: "Succeed" } }, { StartAt: "B" }), "there is no state B"],
  [
    "a state that nothing leads to",
    machine({ A: { Type: "Succeed" }, B: { Type: "Succeed" } }),
    "B: no state leads here",
  ],
  [
    "a state called like an object's own property",
    machine({ A: { Type: "Pass", Next: "constructor" } }),
    "constructor",
  ],
  ["an unknown resource", machine({ A: task({ Resource: "arn:aws:states:::sqs:sendMessage" }) }), "is not supported"],
  [
    "a Lambda's ARN as resource",
    machine({ A: task({ Resource: "arn:aws:lambda:us-east-1:1:function:f" }) }),
    "is not supported",
  ],
  [
    "an SDK call without integration",
    machine({ A: task({ Resource: "arn:aws:states:::aws-sdk:s3:getObject" }) }),
    "no integration",
  ],
  [
    "an argument that Lambda does not take",
    machine({ A: task({ Arguments: { FunctionName: "f", Payloads: 1 } }) }),
    "Payloads",
  ],
  ["a Lambda without a name", machine({ A: task({ Arguments: { Payload: 1 } }) }), "needs the argument FunctionName"],
  ["a Task without Arguments", machine({ A: { Type: "Task", Resource: LAMBDA, End: true } }), "A/Arguments"],
  ["a heartbeat without a token", machine({ A: task({ HeartbeatSeconds: 5 }) }), "HeartbeatSeconds"],
  [
    "a token outside .waitForTaskToken",
    machine({ A: task({ Arguments: { FunctionName: "{% $states.context.Task.Token %}" } }) }),
    "Task",
  ],
  [
    "States.ALL beside others",
    machine({ A: task({ Catch: [{ ErrorEquals: ["E", "States.ALL"], Next: "A" }] }) }),
    "alone",
  ],
  [
    "States.ALL before the last",
    machine({ A: task({ Retry: [{ ErrorEquals: ["States.ALL"] }, { ErrorEquals: ["E"] }] }) }),
    "last",
  ],
  ["an invented States error", machine({ A: task({ Retry: [{ ErrorEquals: ["States.Failed"] }] }) }), "not an error"],
  [
    "MaxDelaySeconds below IntervalSeconds",
    machine({ A: task({ Retry: [{ ErrorEquals: ["E"], IntervalSeconds: 5, MaxDelaySeconds: 5 }] }) }),
    "MaxDelaySeconds",
  ],
  [
    "a Wait of two kinds",
    machine({ A: { Type: "Wait", Seconds: 1, Timestamp: "2026-01-01T00:00:00Z", End: true } }),
    "either Seconds or Timestamp",
  ],
  ["a Wait without a time", machine({ A: { Type: "Wait", End: true } }), "either Seconds or Timestamp"],
  ["a variable called states", machine({ A: { Type: "Pass", Assign: { states: 1 }, End: true } }), "Assign/states"],
  ["JSONata that does not parse", pass("{% 1 + %}"), "Output: not JSONata"],
  ["JSONata that is not closed", pass("{% $states.input"), "whole string"],
  ["JSONata within a text", pass({ a: "id {% $states.input.id %}" }), "Output/a"],
  ["a JSONPath key", pass({ "a.$": "$.a" }), "JSONPath key"],
  ["$eval", pass("{% $eval('1') %}"), "use $parse"],
  ["a function that does not exist", pass("{% $uuidv7() %}"), "$uuidv7"],
  ["a variable that nothing assigns", pass("{% $upload.key %}"), "$upload"],
  ["a field name without $states", pass("{% input.id %}"), "top level"],
  ["$ at the top level", pass("{% $ %}"), "top level"],
  ["$$ anywhere", pass("{% $states.input.a[$$.b] %}"), "$$"],
  ["$states.inputs", pass("{% $states.inputs %}"), "$states.inputs does not exist"],
  ["an invented context field", pass("{% $states.context.Execution.Ids %}"), "Execution.Ids"],
  [
    "$states.result before there is one",
    machine({ A: task({ Arguments: { FunctionName: "{% $states.result %}" } }) }),
    "$states.result",
  ],
  [
    "$states.errorOutput outside a Catch",
    machine({ A: task({ Output: "{% $states.errorOutput %}" }) }),
    "$states.errorOutput",
  ],
  [
    "a Condition that is not JSONata",
    machine({ A: { Type: "Choice", Choices: [{ Condition: "true", Next: "A" }] } }),
    "Condition",
  ],
];

test.each(refused)("a definition is refused: %s", (_, definition, problem) => {
  expect(() => loadMachine(definition, integrations)).toThrow(DefinitionError);
  expect(() => loadMachine(definition, integrations)).toThrow(problem);
});

const accepted = [
  "$states.input.items.name",
  "$map($states.input.items, function($item, $i) { $item.x + $i })",
  "($f := function($n) { $n < 1 ? 0 : $f($n - 1) }; $f(3))",
  "$states.input.items@$i.x#$p.{'i': $i, 'p': $p}",
  "$states.input ~> |plan|{'steps': [install, build]}|",
  "$states.input.items{kind: $sum(size)}",
  "$sort($states.input.items, function($l, $r) { $l.at > $r.at })^(at)",
  "$states.input.items[kind = 'x'].*",
  "$states",
  "$sum(?, 2)",
];

test.each(accepted)("JSONata that Step Functions runs is accepted: %s", (expression) => {
  expect(loadMachine(pass(`{% ${expression} %}`), integrations).startAt).toBe("A");
});

test("all problems are reported at once, each with its place", () => {
  const states = { A: { Type: "Pass", Output: { x: "{% $nope %}", y: "{% ( %}" }, Next: "B" } };
  try {
    loadMachine(machine(states), integrations);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(DefinitionError);
    expect(error instanceof DefinitionError && error.problems.map((text) => text.split(" ")[1])).toEqual([
      "is",
      "Output/x:",
      "Output/y:",
    ]);
  }
});
