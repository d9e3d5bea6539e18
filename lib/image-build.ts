import { Aws, Duration, RemovalPolicy } from "aws-cdk-lib";
import * as codebuild from "aws-cdk-lib/aws-codebuild";
import * as iam from "aws-cdk-lib/aws-iam";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { type Allowance, roleFor } from "./allow.ts";
import type { Apps } from "./apps.ts";
import type { Data } from "./data.ts";

/** The longest an image build may run; its queue may take as long again and a half. */
const imageBuildMinutes = { run: 20, queue: 30 };

/**
 * Turns a plan and a source archive into an image. It runs strangers' code, and BuildKit needs a privileged machine:
 * so the build has no VPC, the least role, and a machine that is thrown away.
 */
export class ImageBuild extends Construct {
  readonly project: codebuild.Project;
  readonly output: logs.LogGroup;

  constructor(scope: Construct, id: string, props: { data: Data; apps: Apps; buildspec: Record<string, unknown> }) {
    super(scope, id);
    const { data, apps } = props;
    this.output = new logs.LogGroup(this, "Output", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = roleFor(this, "Role", {
      description: "Reads a build's source and plan, pushes its image",
      assumedBy: new iam.ServicePrincipal("codebuild.amazonaws.com"),
      allow: this.#allowances(data, apps),
    });
    this.project = new codebuild.Project(this, "Project", {
      description: "Builds the image of an app",
      role: role.withoutPolicyUpdates(),
      buildSpec: codebuild.BuildSpec.fromObject(props.buildspec),
      environment: {
        buildImage: codebuild.LinuxArmBuildImage.AMAZON_LINUX_2023_STANDARD_3_0,
        computeType: codebuild.ComputeType.SMALL,
        privileged: true,
      },
      timeout: Duration.minutes(imageBuildMinutes.run),
      queuedTimeout: Duration.minutes(imageBuildMinutes.queue),
      encryptionKey: data.key,
      grantReportGroupPermissions: false,
      logging: { cloudWatch: { logGroup: this.output } },
    });
  }

  #allowances(data: Data, apps: Apps): Allowance[] {
    return [
      {
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [this.output.logGroupArn],
        because: "Streams are named after builds.",
      },
      {
        actions: ["s3:GetObject", "s3:GetObjectVersion"],
        resources: [data.archives.arnForObjects("archives/*"), data.artifacts.arnForObjects("builds/*")],
        because: "The objects are named after organizations, projects and builds.",
      },
      {
        actions: ["kms:Decrypt"],
        resources: [data.key.keyArn],
        conditions: { StringEquals: { "kms:ViaService": `s3.${Aws.REGION}.amazonaws.com` } },
      },
      { actions: ["ecr:GetAuthorizationToken"], resources: ["*"], because: "The registry's token has no resource." },
      {
        actions: [
          "ecr:BatchCheckLayerAvailability",
          "ecr:BatchGetImage",
          "ecr:CompleteLayerUpload",
          "ecr:DescribeImages",
          "ecr:GetDownloadUrlForLayer",
          "ecr:InitiateLayerUpload",
          "ecr:PutImage",
          "ecr:UploadLayerPart",
        ],
        resources: [apps.images.repositoryArn],
      },
    ];
  }
}
