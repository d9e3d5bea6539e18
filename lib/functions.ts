import { Aws, Duration, Fn, RemovalPolicy } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as lambda from "aws-cdk-lib/aws-lambda";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Capability } from "../api/capabilities.ts";
import { type Allowance, roleFor } from "./allow.ts";
import { capabilityAllowances, environmentOf } from "./capabilities.ts";
import type { Resources } from "./resources.ts";
import { functionRolePath } from "./signers.ts";

export interface FunctionProps {
  /** The file name, the function's name after the stack's prefix, and the construct's id. */
  id: string;
  /** Folder below lambdas/. */
  folder: string;
  uses: readonly Capability[];
  timeoutSeconds: number;
  memory: number;
  description: string;
  /** Permissions beyond the capabilities, such as the dead-letter queue. */
  allow?: readonly Allowance[];
  onFailure?: lambda.IDestination;
}

const functionPrefix = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-";

/** The ARN of a function by its name, for resources that are created before the function. */
export function functionArn(id: string): string {
  return Fn.sub(functionArnText(id));
}

/** The ARN with the pseudo parameters of `Fn::Sub`, to be part of a longer text. */
export function functionArnText(id: string): string {
  return `${functionPrefix}${id}`;
}

/** Creates all Lambdas from one bundle; they differ only in handler, role, environment and size. */
export class Functions extends Construct {
  readonly #code: lambda.Code;
  readonly #resources: Resources;
  readonly output: logs.LogGroup;
  readonly all: lambda.Function[] = [];

  constructor(scope: Construct, id: string, props: { bundle: string; resources: Resources }) {
    super(scope, id);
    this.#code = lambda.Code.fromAsset(props.bundle);
    this.#resources = props.resources;
    this.output = new logs.LogGroup(this, "Output", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  add(props: FunctionProps): lambda.Function {
    const role = roleFor(this, `${props.id}-role`, {
      description: `Slipway function ${props.id}`,
      path: functionRolePath,
      assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
      allow: [
        {
          actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
          resources: [this.output.logGroupArn],
          because: "Lambda names a function's log streams.",
        },
        ...props.uses.flatMap((capability) => capabilityAllowances[capability](this.#resources)),
        ...(props.allow ?? []),
      ],
    });
    const made = new lambda.Function(this, props.id, {
      functionName: `${Aws.STACK_NAME}-${props.id}`,
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: this.#code,
      handler: `${props.folder}/${props.id}.handler`,
      role: role.withoutPolicyUpdates(),
      environment: { ...environmentOf(this.#resources, props.uses) },
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memory,
      logGroup: this.output,
      ...(props.onFailure && { onFailure: props.onFailure, retryAttempts: 2 }),
    });
    this.all.push(made);
    return made;
  }
}
