import { describe, expect, it } from "vitest";
import { machineRemovals, templateRemovals, without } from "../../../scripts/mutate/definition-mutants.ts";

describe("what can be taken out of a definition", () => {
  it("of a state machine: each limit, each rule for errors, each error's name, each choice", () => {
    const machine = {
      TimeoutSeconds: 9,
      States: {
        One: {
          Type: "Task",
          Retry: [{ ErrorEquals: ["A", "B"], MaxAttempts: 3 }],
          Catch: [{ ErrorEquals: ["C"], Next: "Two" }],
        },
        Two: { Type: "Choice", Choices: [{ Condition: "{% x %}", Next: "One" }] },
      },
    };
    expect(machineRemovals(machine).map(({ what }) => what)).toEqual([
      "TimeoutSeconds",
      "States.One.Retry",
      "States.One.Retry.0",
      "States.One.Retry.0.ErrorEquals.0",
      "States.One.Retry.0.ErrorEquals.1",
      "States.One.Catch",
      "States.One.Catch.0",
      "States.One.Catch.0.ErrorEquals.0",
      "States.Two.Choices.0",
    ]);
  });

  it("of a template: each statement and condition of a policy, and what protects a resource", () => {
    const statement = { Effect: "Allow", Action: "s3:GetObject", Condition: { StringEquals: { a: "b" } } };
    const template = {
      Resources: {
        Policy: { Properties: { PolicyDocument: { Statement: [statement, { Effect: "Deny" }] } } },
        Bucket: { DeletionPolicy: "Retain", Properties: { BucketName: "b" } },
        // What CloudFormation does anyway.
        Queue: { DeletionPolicy: "Delete", UpdateReplacePolicy: "Delete" },
        Group: { Properties: { Parameters: { statement_timeout: "20000" } } },
      },
      Parameters: { BootstrapVersion: { Type: "String" } },
    };
    expect(templateRemovals(template).map(({ what }) => what)).toEqual([
      "Resources.Policy.Properties.PolicyDocument.Statement.0",
      "Resources.Policy.Properties.PolicyDocument.Statement.0.Condition",
      "Resources.Policy.Properties.PolicyDocument.Statement.1",
      "Resources.Bucket.DeletionPolicy",
      "Resources.Group.Properties.Parameters",
    ]);
  });
});

describe("a definition without one of its parts", () => {
  const document = { a: [{ b: 1, c: [1, 2, 3] }, 7], d: null };

  it("lacks this part and nothing else, and the original is as it was", () => {
    expect(without(document, ["a", 0, "c", 1])).toEqual({ a: [{ b: 1, c: [1, 3] }, 7], d: null });
    expect(without(document, ["a", 0])).toEqual({ a: [7], d: null });
    expect(without(document, ["a", 0, "b"])).toEqual({ a: [{ c: [1, 2, 3] }, 7], d: null });
    expect(without(document, ["d"])).toEqual({ a: document.a });
    expect(document).toEqual({ a: [{ b: 1, c: [1, 2, 3] }, 7], d: null });
  });

  it("is as it was where there is no such part", () => {
    for (const path of [["x"], ["d", "x"], ["a", 5], ["a", 1, "x"], []])
      expect(without(document, path)).toEqual(document);
  });
});
