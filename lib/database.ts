import { Duration } from "aws-cdk-lib";
import * as ec2 from "aws-cdk-lib/aws-ec2";
import type * as kms from "aws-cdk-lib/aws-kms";
import * as rds from "aws-cdk-lib/aws-rds";
import { Construct } from "constructs";
import { databaseName, statementSecondsMax } from "../api/tables.ts";
import type { Removal } from "./removal.ts";

/** The organizations' databases: Aurora PostgreSQL that pauses while it is not used. Only the Data API reaches it. */
export class Database extends Construct {
  readonly cluster: rds.DatabaseCluster;
  /** The secret of the master user, which RDS creates and rotates. */
  readonly secretArn: string;

  constructor(scope: Construct, id: string, props: { vpc: ec2.IVpc; key: kms.IKey; removal: Removal }) {
    super(scope, id);
    this.cluster = new rds.DatabaseCluster(this, "Cluster", {
      engine: rds.DatabaseClusterEngine.auroraPostgres({ version: rds.AuroraPostgresEngineVersion.VER_17_7 }),
      writer: rds.ClusterInstance.serverlessV2("Writer", { publiclyAccessible: false }),
      serverlessV2MinCapacity: 0,
      serverlessV2MaxCapacity: 8,
      serverlessV2AutoPauseDuration: Duration.minutes(10),
      vpc: props.vpc,
      vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
      // The Data API does not go through the VPC, so the security group allows no connection.
      port: 5433,
      enableDataApi: true,
      parameters: { statement_timeout: String(statementSecondsMax * 1000) },
      credentials: rds.Credentials.fromUsername("slipway", { encryptionKey: props.key }),
      manageMasterUserPassword: true,
      iamAuthentication: true,
      defaultDatabaseName: databaseName,
      storageEncrypted: true,
      storageEncryptionKey: props.key,
      backup: { retention: Duration.days(14) },
      copyTagsToSnapshot: true,
      deletionProtection: props.removal.stackLocked,
      removalPolicy: props.removal.database,
    });
    const secretArn = this.cluster.secret?.secretArn;
    if (secretArn === undefined) throw new Error("The cluster has no secret for its master user");
    this.secretArn = secretArn;
  }
}
