import * as z from "zod";
import type { Capability } from "../../api/capabilities.ts";
import { capabilityAllowances } from "../../lib/capabilities.ts";
import { ofType, resources, slipwayStack } from "./assembly.ts";

const list = z.union([z.string(), z.array(z.string())]).transform((value) => (Array.isArray(value) ? value : [value]));
const statement = z.object({
  Effect: z.literal("Allow"),
  Action: list,
  Resource: z.unknown().transform((value) => (Array.isArray(value) ? value : [value])),
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** One action on one resource under one condition. */
export interface Grant {
  action: string;
  resource: string;
  condition: string;
}

type Resolved =
  | string
  | number
  | { Ref: string }
  | { "Fn::Sub": string }
  | { "Fn::GetAtt": [string, string] }
  | { "Fn::Join": [string, Resolved[]] };

/** A resolved value in a readable form: `<Table>/index/locks`. */
export function written(value: unknown): string {
  const one = value as Resolved;
  if (typeof one === "string" || typeof one === "number") return String(one);
  if ("Fn::Sub" in one) return one["Fn::Sub"].replaceAll(/\$\{(?:AWS::)?(\w+)\}/g, "<$1>");
  if ("Ref" in one) return `<${one.Ref.replace(/^AWS::/, "")}>`;
  if ("Fn::GetAtt" in one) return `<${one["Fn::GetAtt"][0]}>`;
  if ("Fn::Join" in one) return one["Fn::Join"][1].map(written).join(one["Fn::Join"][0]);
  return JSON.stringify(one);
}

function conditionText(conditions: Record<string, Record<string, unknown>> = {}): string {
  return Object.entries(conditions)
    .flatMap(([operator, keys]) => Object.entries(keys).map(([key, value]) => `${operator} ${key} ${written(value)}`))
    .join(" and ");
}

/** The single grants of a capability. */
export function grantsFor(capability: Capability): Grant[] {
  const stack = slipwayStack();
  return capabilityAllowances[capability](stack.resources).flatMap(({ actions, resources, conditions }) =>
    actions.flatMap((action) =>
      resources.map((resource) => ({
        action,
        resource: written(stack.resolve(resource)),
        condition: conditionText(stack.resolve(conditions)),
      })),
    ),
  );
}

/** A grant in one line, without the hashes of logical ids. */
export function lineOf({ action, resource, condition }: Grant): string {
  const where = condition && ` if ${condition}`;
  return `${action} ${resource}${where}`.replaceAll(/[0-9A-F]{8}>/g, ">");
}

/** The single grants of a role's inline policies. */
export function grantsOf(roleId: string): Grant[] {
  const policies: { PolicyDocument: { Statement: unknown[] } }[] = resources()[roleId]?.Properties.Policies ?? [];
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map((one) => statement.parse(one)))
    .flatMap(({ Action, Resource, Condition }) =>
      Action.flatMap((action) =>
        Resource.map((resource) => ({
          action,
          resource: written(resource),
          condition: conditionText(Condition),
        })),
      ),
    );
}

const trust = z.object({
  Effect: z.literal("Allow"),
  Action: z.literal("sts:AssumeRole"),
  Principal: z.union([
    z.strictObject({ Service: z.unknown() }).transform(({ Service }) => written(Service)),
    z.strictObject({ AWS: z.unknown() }).transform(({ AWS }) => written(AWS)),
  ]),
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** Who can assume a role, one line for each statement. */
export function trustOf(roleId: string): string[] {
  const statements: unknown[] = resources()[roleId]?.Properties.AssumeRolePolicyDocument.Statement ?? [];
  return statements
    .map((one) => trust.parse(one))
    .map(({ Principal, Condition }) => `${Principal}${Condition ? ` if ${conditionText(Condition)}` : ""}`);
}

const resourcePolicyStatement = z.object({
  Effect: z.enum(["Allow", "Deny"]),
  Principal: z.union([z.string(), z.record(z.string(), z.unknown())]),
  Action: list,
  Resource: z.unknown().transform((value) => (Array.isArray(value) ? value : [value])),
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/** The policies of a bucket, a queue or a topic, one line for each statement, without the hashes of logical ids. */
export function resourcePolicies(type: string): string[] {
  return ofType(type)
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement)
    .map((one) => resourcePolicyStatement.parse(one))
    .map(({ Effect, Principal, Action, Resource, Condition }) => {
      const who = typeof Principal === "string" ? [Principal] : Object.values(Principal).flat().map(written);
      const where = Condition ? ` if ${conditionText(Condition)}` : "";
      const line = `${Effect} ${who.join(" and ")} ${Action.join(" and ")} ${Resource.map(written).join(" and ")}${where}`;
      return line.replaceAll(/[0-9A-F]{8}>/g, ">");
    });
}

export interface FunctionView {
  id: string;
  handler: string;
  roleId: string;
  environment: Record<string, unknown>;
  timeout: number;
}

/** The template's functions by id (the name of file, function and route). */
export function functions(): FunctionView[] {
  return ofType("AWS::Lambda::Function").map(([, { Properties: p }]) => ({
    id: written(p.FunctionName).replace(/^<StackName>-/, ""),
    handler: p.Handler,
    roleId: p.Role["Fn::GetAtt"][0],
    environment: p.Environment?.Variables ?? {},
    timeout: p.Timeout,
  }));
}
