import { RemovalPolicy, Tags } from "aws-cdk-lib";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import * as logs from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { suppressNag } from "./nag-suppressions.ts";

/** Public subnets for apps, isolated ones for the database. Without a NAT gateway it costs nothing while no app runs. */
export class Network extends Construct {
  readonly vpc: ec2.Vpc;
  /** The load balancers' group: open to the world on 443. */
  readonly ingress: ec2.SecurityGroup;
  /** The tasks' group: reached from the load balancers only, so that no app reaches another. */
  readonly tasks: ec2.SecurityGroup;

  constructor(scope: Construct, id: string, props: { database: boolean }) {
    super(scope, id);
    this.vpc = new ec2.Vpc(this, "Vpc", {
      maxAzs: 2,
      natGateways: 0,
      // The default group stays as AWS makes it and unused: closing it takes a custom-resource Lambda.
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
      EC23: "Apps are public web services: their load balancers answer everyone, on 443 only.",
    });
    this.tasks = new ec2.SecurityGroup(this, "Tasks", {
      vpc: this.vpc,
      description: "Apps",
      allowAllOutbound: true,
    });
    this.tasks.addIngressRule(this.ingress, ec2.Port.allTcp(), "The load balancers, on the port an app listens on");
  }
}
