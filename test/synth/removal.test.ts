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

it("removal=keep-data lets the stack go and keeps table, buckets, and a snapshot of the database", () => {
  const resources = under("keep-data");
  expect(policies(resources, kept)).toEqual(new Set(["Retain"]));
  expect(property(resources, "AWS::DynamoDB::Table", "DeletionProtectionEnabled")).toBe(true);
  expect(policies(resources, /^AWS::RDS::DBCluster$/)).toEqual(new Set(["Snapshot"]));
  expect(property(resources, "AWS::RDS::DBCluster", "DeletionProtection")).toBe(false);
  expect(property(resources, "AWS::ECS::Gateway", "DeletionProtection")).toBe(false);
});

it("removal=everything leaves nothing behind and nothing locked", () => {
  const resources = under("everything");
  expect(policies(resources, kept)).toEqual(new Set(["Delete"]));
  expect(policies(resources, /^AWS::RDS::DBCluster$/)).toEqual(new Set(["Delete"]));
  expect(property(resources, "AWS::DynamoDB::Table", "DeletionProtectionEnabled")).toBe(false);
  expect(resources.filter(([, { DeletionPolicy }]) => DeletionPolicy === "Retain")).toEqual([]);
});
