import { RemovalPolicy, Tags } from "aws-cdk-lib";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { suppressNag } from "./nag-suppressions.ts";

/** Public subnets for apps and isolated subnets for the database. Without a NAT gateway, an unused network costs nothing. */
export class Network extends Construct {
  readonly vpc: ec2.Vpc;
  /** The security group of the load balancers: accepts port 443 from everywhere. */
  readonly ingress: ec2.SecurityGroup;
  /** The security group of the tasks: accepts only the load balancers, so that apps cannot reach each other. */
  readonly tasks: ec2.SecurityGroup;

  constructor(scope: Construct, id: string, props: { database: boolean }) {
    super(scope, id);
    this.vpc = new ec2.Vpc(this, "Vpc", {
      maxAzs: 2,
      natGateways: 0,
      // The unused default group is not changed, because restricting it would add a custom-resource Lambda.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: "apps", subnetType: ec2.SubnetType.PUBLIC, cidrMask: 19, mapPublicIpOnLaunch: false },
        ...(props.database ? [{ name: "database", subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 24 }] : []),
      ],
    });
    this.vpc.addFlowLog("Refused", {
      trafficType: ec2.FlowLogTrafficType.REJECT,
      destination: ec2.FlowLogDestination.toCloudWatchLogs(
        new logs.LogGroup(this, "RefusedTraffic", {
          retention: logs.RetentionDays.TWO_WEEKS,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
      ),
    });
    this.ingress = new ec2.SecurityGroup(this, "Ingress", {
      vpc: this.vpc,
      description: "Load balancers of the apps",
      allowAllOutbound: true,
    });
    // The managed policy of the gateway's role lets ECS change a security group only if it has this tag.
    Tags.of(this.ingress).add("AmazonECSManaged", "true");
    this.ingress.addIngressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(443), "HTTPS from everywhere");
    suppressNag(this.ingress, {
      EC23: "Apps are public web services: their load balancers accept everyone, on port 443 only.",
    });
    this.tasks = new ec2.SecurityGroup(this, "Tasks", {
      vpc: this.vpc,
      description: "Apps",
      allowAllOutbound: true,
    });
    this.tasks.addIngressRule(this.ingress, ec2.Port.allTcp(), "The load balancers, on the port an app listens on");
  }
}
