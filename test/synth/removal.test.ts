import { Template } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { type Resource, slipwayApp } from "./assembly.ts";

function under(removal: string): [string, Resource][] {
  const resources: Record<string, Resource> = Template.fromStack(slipwayApp({ removal }).stack).toJSON().Resources;
  return Object.entries(resources);
}

const policies = (resources: [string, Resource][], types: RegExp) =>
  new Set(resources.filter(([, { Type }]) => types.test(Type)).map(([, { DeletionPolicy }]) => DeletionPolicy));
const property = (resources: [string, Resource][], type: string, name: string) =>
  resources.find(([, { Type }]) => Type === type)?.[1].Properties[name];

const kept = /^AWS::(DynamoDB::Table|S3::Bucket)$/;

it("removal=keep-data allows the stack's deletion and keeps the table, the buckets and a snapshot of the database", () => {
  const resources = under("keep-data");
  expect(policies(resources, kept)).toEqual(new Set(["RetainExceptOnCreate", "Retain"]));
  expect(property(resources, "AWS::DynamoDB::Table", "DeletionProtectionEnabled")).toBe(true);
  expect(policies(resources, /^AWS::RDS::DBCluster$/)).toEqual(new Set(["Snapshot"]));
  expect(property(resources, "AWS::RDS::DBCluster", "DeletionProtection")).toBe(false);
  expect(property(resources, "AWS::ECS::Gateway", "DeletionProtection")).toBe(false);
});

it("removal=everything keeps nothing and has no deletion protection", () => {
  const resources = under("everything");
  expect(policies(resources, kept)).toEqual(new Set(["Delete"]));
  expect(policies(resources, /^AWS::RDS::DBCluster$/)).toEqual(new Set(["Delete"]));
  expect(property(resources, "AWS::DynamoDB::Table", "DeletionProtectionEnabled")).toBe(false);
  expect(resources.filter(([, { DeletionPolicy }]) => /^Retain/.test(DeletionPolicy ?? ""))).toEqual([]);
});

it("removal=everything turns off access logs, which would otherwise fill their bucket again after it was emptied", () => {
  const logging = (removal: string) =>
    under(removal).filter(([, one]) => one.Type === "AWS::S3::Bucket" && one.Properties.LoggingConfiguration);
  expect(logging("never")).toHaveLength(3);
  expect(logging("everything")).toEqual([]);
  const delivery = under("everything").filter(([, one]) => JSON.stringify(one).includes("logging.s3.amazonaws.com"));
  expect(delivery).toEqual([]);
});

it("removal=first-deploy has no deletion protection, so that a failed first deployment can be rolled back", () => {
  const locks = (removal: string) =>
    under(removal).flatMap(([, { Type, Properties }]) => {
      const isLocked = Properties?.DeletionProtectionEnabled ?? Properties?.DeletionProtection;
      return isLocked === true ? [Type] : [];
    });
  expect(locks("never").sort()).toEqual(["AWS::DynamoDB::Table", "AWS::ECS::Gateway", "AWS::RDS::DBCluster"]);
  expect(locks("first-deploy")).toEqual([]);
  const retained = (removal: string) =>
    under(removal).map(([id, { DeletionPolicy, UpdateReplacePolicy }]) => [id, DeletionPolicy, UpdateReplacePolicy]);
  expect(retained("first-deploy")).toEqual(retained("never"));
});
