import { ArnFormat, Aws, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as codebuild from "aws-cdk-lib/aws-codebuild";
import type * as iam from "aws-cdk-lib/aws-iam";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { imageBuildActions } from "../statemachines/image-build-actions.ts";
import type { imageBuildServices } from "../statemachines/steps.ts";
import { roleFor, serviceOfThisAccount } from "./allow.ts";
import type { Apps } from "./apps.ts";
import type { BaseImages } from "./base-images.ts";
import type { Data } from "./data.ts";
import { suppressNag } from "./nag-suppressions.ts";
import { functionsOf } from "./signers.ts";

/** The maximum number of minutes that an image build may run, and that it may wait in the queue. */
const imageBuildMinutes = { run: 20, queue: 30 };

/** The function that gives an image build access to its files and its repository. */
const accessFunction: keyof typeof imageBuildServices = "grant-build-access";

/**
 * Builds an image from a plan and a source archive. It runs untrusted code, and BuildKit needs a privileged container.
 * So the build has no VPC, runs on a machine that is discarded, and its role may only invoke the function that gives it
 * access to this build's files.
 */
export class ImageBuild extends Construct {
  readonly project: codebuild.Project;
  readonly output: logs.LogGroup;
  /** The role of the sessions that image builds get; a build cannot assume it itself. */
  readonly sessions: iam.Role;

  constructor(
    scope: Construct,
    id: string,
    props: { data: Data; apps: Apps; baseImages: BaseImages; buildspec: Record<string, unknown> },
  ) {
    super(scope, id);
    this.sessions = this.#sessions(props);
    const access = this.#accessFunction();
    this.output = new logs.LogGroup(this, "Output", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = roleFor(this, "Role", {
      description: "Writes a build's log, and invokes the function that grants access to its files",
      assumedBy: serviceOfThisAccount("codebuild.amazonaws.com", this.#anyProject()),
      allow: [
        {
          actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
          resources: [this.output.logGroupArn],
          because:
            "Streams are named after builds. IAM cannot tie a build to its stream: codebuild:buildArn holds colons, which no stream's name may hold.",
        },
        { actions: ["lambda:InvokeFunction"], resources: [access.arn] },
      ],
    });
    this.project = new codebuild.Project(this, "Project", {
      description: "Builds the image of an app",
      role: role.withoutPolicyUpdates(),
      buildSpec: codebuild.BuildSpec.fromObject(props.buildspec),
      environment: {
        buildImage: codebuild.LinuxArmBuildImage.AMAZON_LINUX_2023_STANDARD_3_0,
        computeType: codebuild.ComputeType.SMALL,
        privileged: true,
        environmentVariables: {
          ACCESS_FUNCTION: { value: access.name },
          BASE_REGISTRY: { value: props.baseImages.registry },
        },
      },
      timeout: Duration.minutes(imageBuildMinutes.run),
      queuedTimeout: Duration.minutes(imageBuildMinutes.queue),
      grantReportGroupPermissions: false,
      logging: { cloudWatch: { logGroup: this.output } },
    });
    suppressNag(this.project, {
      CB4: "The build has no CodeBuild artifacts to encrypt, and its role may not use any key.",
    });
  }

  /** All projects of this account, because the project's name is not known when its role is created. */
  #anyProject(): string {
    return Stack.of(this).formatArn({ service: "codebuild", resource: "project", resourceName: "*" });
  }

  /** The function that gives image builds access. It is named here because it is created after the project. */
  #accessFunction(): { name: string; arn: string } {
    const name = `${Aws.STACK_NAME}-${accessFunction}`;
    const arnFormat = ArnFormat.COLON_RESOURCE_NAME;
    return {
      name,
      arn: Stack.of(this).formatArn({ service: "lambda", resource: "function", resourceName: name, arnFormat }),
    };
  }

  /** The function that opens a session limits it to one build's files and one project's repository. */
  #sessions({ data, apps, baseImages }: { data: Data; apps: Apps; baseImages: BaseImages }): iam.Role {
    return roleFor(this, "Sessions", {
      description: "Reads an image build's files and pushes its image, one build at a time",
      assumedBy: functionsOf(this),
      allow: [
        {
          actions: [...imageBuildActions.objects],
          resources: [data.archives.arnForObjects("archives/*"), data.artifacts.arnForObjects("builds/*")],
          because: "Each session's own policy names one build's three objects.",
        },
        {
          actions: ["kms:Decrypt"],
          resources: [data.key.keyArn],
          conditions: { StringEquals: { "kms:ViaService": `s3.${Aws.REGION}.amazonaws.com` } },
        },
        { actions: ["ecr:GetAuthorizationToken"], resources: ["*"], because: "The ECR token has no resource." },
        {
          actions: [...imageBuildActions.repository],
          resources: [`${apps.images.arn}/*`],
          because: "Each session's own policy names one project's repository.",
        },
        {
          actions: [...imageBuildActions.baseImages],
          resources: [`${baseImages.arn}/*`],
          because: "Copies of public images are named after them.",
        },
      ],
    });
  }
}
