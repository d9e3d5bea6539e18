import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { IConstruct } from "constructs";
import { expect, it } from "vitest";
import { routes } from "../../api/index.ts";
import { largest, ofType, resources, slipwayApp, slipwayStack, synthesized, withoutDatabase } from "./assembly.ts";
import { written } from "./policies.ts";

function acknowledgements(scope: IConstruct): [string, string][] {
  const own = scope.node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data));
  return [...own, ...scope.node.children.flatMap(acknowledgements)];
}

it("CDK's own validation passes without a database too, its findings being errors", () => {
  const { app, assembly } = withoutDatabase();
  expect(app.node.tryGetContext("@aws-cdk/core:validateAgainstDefaultRules")).toBe(true);
  const report = JSON.parse(readFileSync(join(assembly.directory, "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});

it("a deployment without a database has no resource that the default one lacks", () => {
  const without = withoutDatabase().resources;
  expect(Object.keys(without).length).toBeGreaterThan(100);
  expect(Object.entries(without).filter(([id, { Type }]) => resources()[id]?.Type !== Type)).toEqual([]);
});

it.each(["aurora", "none"])("AwsSolutions reports nothing that is not suppressed (database=%s)", (database) => {
  const { app } = database === "none" ? withoutDatabase() : synthesized();
  const { violations } = new AwsSolutionsChecks().validateScope(app);
  expect(violations.map(({ ruleName, violatingResources }) => [ruleName, violatingResources[0]])).toEqual([]);
});

it("every nag suppression has a reason and is needed", () => {
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

it("a contract of at least 80 routes fits, with one function and one role for each, in one asset and 5 s of CPU time", () => {
  const { routes: all, resources: grown, assembly, cpuSeconds } = largest();
  expect(cpuSeconds).toBeLessThan(5);
  expect(Object.keys(grown).length - Object.keys(resources()).length).toBe(2 * (all.length - routes.length));
  expect(Object.keys(grown).length).toBeLessThanOrEqual(400);
  expect(statSync(assembly.stacks[0]?.templateFullPath ?? "").size).toBeLessThanOrEqual(900_000);
  const roles = Object.entries(grown).filter(([, { Type }]) => Type === "AWS::IAM::Role");
  const sizes = roles.map(([id, { Properties }]): [string, number] => [id, policyLength(Properties.Policies ?? [])]);
  // IAM's limit for all inline policies of a role, without white space.
  expect(sizes.filter(([, length]) => length > 10_240)).toEqual([]);
  expect(Math.max(...sizes.map(([, length]) => length))).toBeGreaterThan(5_000);
});

/** The length of a policy in the region with the longest name, for the longest stack name. */
function policyLength(policy: unknown): number {
  return JSON.stringify(policy, (_, value) => (value?.["Fn::Join"] || value?.["Fn::Sub"] ? written(value) : value))
    .replaceAll("<Partition>", "aws")
    .replaceAll("<Region>", "ap-southeast-1")
    .replaceAll("<AccountId>", "123456789012")
    .replaceAll("<StackName>", "s".repeat(32)).length;
}

it("the template contains no account and no region, and synth needs none", () => {
  const { account, region } = slipwayStack();
  expect([account, region]).toEqual([expect.stringContaining("AWS.AccountId"), expect.stringContaining("AWS.Region")]);
  expect(JSON.stringify(resources())).not.toMatch(/arn:aws:\w+:[a-z]+-[a-z]+-\d/);
});

it("the stack has no custom resources", () => {
  expect(Object.values(resources()).filter(({ Type }) => /^Custom::|CustomResource/.test(Type))).toEqual([]);
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
