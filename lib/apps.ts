import { Aws, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
import * as ecs from "aws-cdk-lib/aws-ecs";
import * as iam from "aws-cdk-lib/aws-iam";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { roleFor, serviceOfThisAccount } from "./allow.ts";
import { imageRepositoryPrefix } from "./image-repositories.ts";
import { suppressNag } from "./nag-suppressions.ts";
import type { Network } from "./network.ts";
import type { Removal } from "./removal.ts";

/** The image repositories: one per project, with the id as its name. grant-build-access creates them before the first push. */
export interface ImageRepositories {
  /** The prefix of the repository names, before the slash. */
  prefix: string;
  /** The ARN of a repository, up to the slash. */
  arn: string;
  /** The URI of a repository, up to the slash. */
  uri: string;
}

function repositoriesOf(stack: Stack): ImageRepositories {
  const prefix = imageRepositoryPrefix(stack.stackName);
  return {
    prefix,
    arn: stack.formatArn({ service: "ecr", resource: "repository", resourceName: prefix }),
    uri: `${Aws.ACCOUNT_ID}.dkr.ecr.${Aws.REGION}.${Aws.URL_SUFFIX}/${prefix}`,
  };
}

/** The resources of the customers' apps: cluster, shared gateway, images, log group and two roles. */
export class Apps extends Construct {
  readonly cluster: ecs.Cluster;
  readonly gateway: ecs.CfnGateway;
  readonly gatewayName = `${Aws.STACK_NAME}-apps`;
  readonly images: ImageRepositories;
  readonly output: logs.LogGroup;
  readonly taskRole: iam.Role;
  readonly executionRole: iam.Role;
  /** Requests with this header reach the new revision before it gets production traffic. */
  readonly probeHeader = {
    name: "x-slipway-probe",
    // The id part of the stack's ARN: it stays the same in every deployment and cannot be guessed.
    value: Fn.select(2, Fn.split("/", Aws.STACK_ID)),
  };

  constructor(scope: Construct, id: string, props: { network: Network; removal: Removal }) {
    super(scope, id);
    this.cluster = new ecs.Cluster(this, "Cluster", { vpc: props.network.vpc });
    suppressNag(this.cluster, {
      ECS4: "Container Insights is paid for per app; the pipeline and the gateway watch each app's health.",
    });
    this.images = repositoriesOf(Stack.of(this));
    this.output = new logs.LogGroup(this, "Output", {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.taskRole = roleFor(this, "TaskRole", {
      description: "The role of every app: allows nothing, identifies the app to the service",
      assumedBy: this.#tasks(),
    });
    this.executionRole = this.#executionRole();
    this.gateway = this.#gateway(props.network, props.removal.stackLocked);
    new ecs.CfnGatewayClusterAssociations(this, "GatewayAssociation", {
      cluster: this.cluster.clusterName,
      gateway: this.gateway.attrArn,
    });
  }

  #tasks(): iam.IPrincipal {
    return serviceOfThisAccount("ecs-tasks.amazonaws.com", Stack.of(this).formatArn({ service: "ecs", resource: "*" }));
  }

  #executionRole(): iam.Role {
    return roleFor(this, "ExecutionRole", {
      description: "Pulls an app's image and writes its output",
      assumedBy: this.#tasks(),
      allow: [
        {
          actions: ["ecr:GetAuthorizationToken"],
          resources: ["*"],
          because: "The ECR token has no resource.",
        },
        {
          actions: ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
          resources: [`${this.images.arn}/*`],
          because: "Repositories are named after projects, below the stack's own prefix.",
        },
        {
          actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
          resources: [this.output.logGroupArn],
          because: "Streams are named after tasks.",
        },
      ],
    });
  }

  #gateway(network: Network, locked: boolean): ecs.CfnGateway {
    const role = roleFor(this, "GatewayRole", {
      description: "Lets ECS manage the shared load balancers",
      assumedBy: new iam.ServicePrincipal("ecs.amazonaws.com"),
      managedPolicies: [
        iam.ManagedPolicy.fromAwsManagedPolicyName("AmazonECSInfrastructureRoleForGatewayHostSharedALB"),
      ],
    });
    suppressNag(role, {
      "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonECSInfrastructureRoleForGatewayHostSharedALB]":
        "AWS maintains this policy for the load balancers that ECS creates.",
    });
    return new ecs.CfnGateway(this, "Gateway", {
      gatewayName: this.gatewayName,
      infrastructureRoleArn: role.roleArn,
      deletionProtection: locked,
      configuration: {
        hostSharedAlb: {
          scheme: "internet-facing",
          networkConfiguration: {
            subnets: network.vpc.publicSubnets.map((subnet) => subnet.subnetId),
            inboundSecurityGroup: network.ingress.securityGroupId,
            ipAddressType: "ipv4",
          },
          httpDesync: "strictest",
          testTrafficRules: { header: { name: this.probeHeader.name, values: [this.probeHeader.value] } },
        },
      },
    });
  }
}
