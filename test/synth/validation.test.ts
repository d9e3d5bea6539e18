import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { IConstruct } from "constructs";
import { expect, it } from "vitest";
import { ofType, resources, slipwayApp, slipwayStack } from "./assembly.ts";

function acknowledgements(scope: IConstruct): [string, string][] {
  const own = scope.node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data));
  return [...own, ...scope.node.children.flatMap(acknowledgements)];
}

it.each(["aurora", "none"])("CDK's own validation passes, its findings being errors (database=%s)", (database) => {
  const { app } = slipwayApp({ database }, { validate: true });
  expect(app.node.tryGetContext("@aws-cdk/core:validateAgainstDefaultRules")).toBe(true);
  const assembly = app.synth();
  const report = JSON.parse(readFileSync(join(assembly.directory, "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});

it.each(["aurora", "none"])("AwsSolutions finds nothing that is not acknowledged (database=%s)", (database) => {
  const { app } = slipwayApp({ database });
  const { violations } = new AwsSolutionsChecks().validateScope(app);
  expect(violations.map(({ ruleName, violatingResources }) => [ruleName, violatingResources[0]])).toEqual([]);
});

it("every acknowledgement has a reason and is needed", () => {
  const { app } = slipwayApp();
  const acknowledged = acknowledgements(app).filter(([id]) => id.includes("AwsSolutions-"));
  for (const [id, reason] of acknowledged) expect([id, reason.length > 20]).toEqual([id, true]);
  class Unforgiving extends AwsSolutionsChecks {
    override validateScope(scope: IConstruct) {
      for (const construct of scope.node.findAll()) Object.defineProperty(construct.node, "metadata", { value: [] });
      return super.validateScope(scope);
    }
  }
  const found = new Unforgiving().validateScope(app).violations.map(({ ruleName }) => ruleName);
  const ids = acknowledged.map(([id]) => id.replace(/^annotation::/i, ""));
  expect([...new Set(ids)].sort()).toEqual([...new Set(found)].sort());
});

it("the stack stays far from CloudFormation's limits of 500 resources and 1 MB", () => {
  expect(Object.keys(resources()).length).toBeLessThanOrEqual(400);
  expect(JSON.stringify({ Resources: resources() }, null, 1).length).toBeLessThanOrEqual(900_000);
});

it("the template contains no account and no region, and synth needs none", () => {
  const { account, region } = slipwayStack();
  expect([account, region]).toEqual([expect.stringContaining("AWS.AccountId"), expect.stringContaining("AWS.Region")]);
  expect(JSON.stringify(resources())).not.toMatch(/arn:aws:\w+:[a-z]+-[a-z]+-\d/);
});

it("the stack has no custom resources", () => {
  expect(Object.values(resources()).filter(({ Type }) => /^Custom::|CustomResource/.test(Type))).toEqual([]);
});

it("synth takes less than 5 s of CPU time", () => {
  const before = process.cpuUsage();
  const assembly = slipwayApp().app.synth();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(5);
  const template = assembly.stacks[0]?.templateFullPath ?? "";
  expect(statSync(template).size).toBeLessThanOrEqual(900_000);
});

it("all functions share one asset and differ in handler, role and environment only", () => {
  const shared = new Set(
    ofType("AWS::Lambda::Function").map(([, { Properties: p }]) =>
      JSON.stringify([p.Code, p.Runtime, p.Architectures]),
    ),
  );
  expect(shared.size).toBe(1);
  expect([...shared][0]).toContain('"nodejs24.x",["arm64"]');
});
