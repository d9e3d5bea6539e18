import { Aws, Stack, Validations } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

export interface Allowance {
  actions: readonly string[];
  resources: readonly string[];
  conditions?: Record<string, Record<string, unknown>>;
  /** The reason for a `*` in a resource; required if there is one. */
  because?: string;
}

type Resolved =
  | string
  | { Ref: string }
  | { "Fn::Sub": string }
  | { "Fn::GetAtt": [string, string] }
  | { "Fn::Join": [string, Resolved[]] };

/** A resource in the format that cdk-nag uses in finding ids. */
function findingOf(resolved: Resolved): string {
  if (typeof resolved === "string") return resolved;
  if ("Fn::Sub" in resolved) return resolved["Fn::Sub"];
  if ("Ref" in resolved) return `<${resolved.Ref}>`;
  if ("Fn::GetAtt" in resolved) return `<${resolved["Fn::GetAtt"].join(".")}>`;
  return resolved["Fn::Join"][1].map(findingOf).join(resolved["Fn::Join"][0]);
}

/** Suppresses cdk-nag's findings on the resources with a `*`, with the reason that the allowance gives. */
function suppressWildcards(scope: Construct, allowance: Allowance): void {
  for (const resource of allowance.resources) {
    const resolved: Resolved = Stack.of(scope).resolve(resource);
    const finding = findingOf(resolved);
    if (!finding.includes("*")) continue;
    if (!allowance.because)
      throw new Error(`${scope.node.path}: ${allowance.actions.join(", ")} on ${finding} needs a reason.`);
    Validations.of(scope).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason: allowance.because });
  }
}

export interface RoleProps {
  assumedBy: iam.IPrincipal;
  allow?: readonly Allowance[];
  managedPolicies?: iam.IManagedPolicy[];
  description?: string;
  path?: string;
}

/** A role whose whole policy is inline, so that no other part of the stack can add to it. */
export function roleFor(scope: Construct, id: string, props: RoleProps): iam.Role {
  const { allow = [], ...rest } = props;
  const statements = allow.map(
    ({ actions, resources, conditions }) =>
      new iam.PolicyStatement({ actions: [...actions], resources: [...resources], ...(conditions && { conditions }) }),
  );
  const role = new iam.Role(scope, id, {
    ...rest,
    ...(statements.length > 0 && { inlinePolicies: { allow: new iam.PolicyDocument({ statements, minimize: true }) } }),
  });
  for (const allowance of allow) suppressWildcards(role, allowance);
  return role;
}

/** A service of AWS, only where it acts for a resource of this account, so that other accounts cannot make it a confused deputy. */
export function serviceOfThisAccount(service: string, sourceArn: string): iam.IPrincipal {
  return new iam.ServicePrincipal(service, {
    conditions: { ArnLike: { "aws:SourceArn": sourceArn }, StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
  });
}
