import { expect, it } from "vitest";
import { largest, type Resource, synthesized } from "./assembly.ts";
import { written } from "./policies.ts";

/** The resources for a `removal` value, by logical id; "never" is the default. */
const under = (removal: string) => Object.entries(synthesized(removal === "never" ? {} : { removal }).resources);

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

/** The properties that give a resource a name of its own, which no second resource can have. */
function nameOf({ Type, Properties = {} }: Resource): unknown {
  const kind = Type.split("::").at(-1);
  const names = [`${kind}Name`, `${kind}Identifier`, "Name", "EcrRepositoryPrefix", "GroupName"];
  // A stage belongs to its API, and an inline policy to its role. CloudFormation names all other resources.
  return /::(Stage|Policy)$/.test(Type) ? undefined : names.map((name) => Properties[name]).find(Boolean);
}

it("a failed first deployment leaves nothing whose name the next one needs", () => {
  const resources = under("first-deploy");
  const named = resources.filter(([, resource]) => nameOf(resource) !== undefined);
  expect([...new Set(named.map(([, { Type }]) => Type))].sort()).toEqual([
    "AWS::ECR::PullThroughCacheRule",
    "AWS::ECR::Repository",
    "AWS::ECS::Gateway",
    "AWS::Lambda::Function",
    "AWS::Logs::LogGroup",
    "AWS::StepFunctions::StateMachine",
  ]);
  // CloudFormation deletes them with the stack; repositories also with images.
  expect(policies(named, /./)).toEqual(new Set([undefined, "Delete"]));
  const repositories = named.filter(([, { Type }]) => Type === "AWS::ECR::Repository");
  expect(repositories.map(([, { Properties }]) => Properties.EmptyOnDelete)).toEqual(repositories.map(() => true));
  const retained = resources.filter(([, { DeletionPolicy }]) => DeletionPolicy === "Retain");
  expect(retained.map(([, { Type, Properties }]) => [Type, Properties.BucketName])).toEqual([
    ["AWS::S3::Bucket", undefined],
  ]);
});

it("the names fit the longest stack name", () => {
  const { resources, stackName } = largest();
  const named = Object.values(resources).filter(({ Type }) => Type === "AWS::Lambda::Function");
  const names = named.map(({ Properties }) => written(Properties.FunctionName).replace("<StackName>", stackName));
  expect(names.length).toBeGreaterThan(90);
  expect(names.filter((name) => !/^[\w-]{1,64}$/.test(name))).toEqual([]);
});
