import { Duration } from "aws-cdk-lib";
import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import * as kms from "aws-cdk-lib/aws-kms";
import * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { archiveTransfers, type BrowserTransfers, fileTransfers } from "../api/browser-transfers.ts";
import type { Removal } from "./removal.ts";

/** Makes S3 send the events of a bucket to EventBridge. The option of the L2 construct would add a custom-resource Lambda. */
function sendEventsToEventBridge(bucket: s3.Bucket): void {
  const resource = bucket.node.defaultChild;
  if (!(resource instanceof s3.CfnBucket)) throw new Error(`${bucket.node.path} is not a bucket`);
  resource.notificationConfiguration = { eventBridgeConfiguration: { eventBridgeEnabled: true } };
}

/**
 * The rule of a bucket for web pages. Every origin is allowed: the console's own address contains the id of the API, whose
 * definition names the functions, which know the bucket, so that naming it here would be a cycle. The presigned address is
 * the secret that protects the object, and no cookie is involved.
 */
function corsRule({ methods, headers, exposedHeaders, maxAgeSeconds }: BrowserTransfers): s3.CorsRule {
  return {
    allowedOrigins: ["*"],
    allowedMethods: methods.map((method) => s3.HttpMethods[method]),
    allowedHeaders: [...headers],
    exposedHeaders: [...exposedHeaders],
    maxAge: maxAgeSeconds,
  };
}

const bucketDefaults = {
  blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
} as const;

const unfinishedUploads = { id: "unfinished-uploads", abortIncompleteMultipartUploadAfter: Duration.days(1) };

/** The stateful resources: the table, the buckets, and the KMS key for data that can contain secrets. */
export class Data extends Construct {
  /** Encrypts variables, sources and build inputs, which can contain secrets. */
  readonly key: kms.Key;
  readonly table: dynamodb.Table;
  readonly archives: s3.Bucket;
  readonly artifacts: s3.Bucket;
  readonly files: s3.Bucket;
  readonly #accessLogs: s3.Bucket;
  readonly #removal: Removal;

  constructor(scope: Construct, id: string, removal: Removal) {
    super(scope, id);
    this.#removal = removal;
    this.key = new kms.Key(this, "Key", {
      description: "Slipway: variables, source archives and build inputs",
      enableKeyRotation: true,
      removalPolicy: this.#removal.data,
    });
    this.table = this.#table();
    this.#accessLogs = new s3.Bucket(this, "AccessLogs", {
      ...bucketDefaults,
      removalPolicy: this.#removal.accessLogs ?? this.#removal.data,
      encryption: s3.BucketEncryption.S3_MANAGED,
      lifecycleRules: [{ id: "old-logs", expiration: Duration.days(90) }, unfinishedUploads],
    });
    this.archives = this.#archives();
    this.artifacts = this.#artifacts();
    this.files = this.#files();
  }

  #table(): dynamodb.Table {
    const table = new dynamodb.Table(this, "Table", {
      partitionKey: { name: "pk", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "sk", type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      timeToLiveAttribute: "ttl",
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: this.#removal.dataLocked,
      removalPolicy: this.#removal.data,
    });
    table.addGlobalSecondaryIndex({
      indexName: "locks",
      partitionKey: { name: "lockShard", type: dynamodb.AttributeType.STRING },
      sortKey: { name: "leaseUntil", type: dynamodb.AttributeType.STRING },
    });
    return table;
  }

  /** The access-log settings of a bucket; none if the whole stack is to be deleted. */
  #logged(id: string): s3.BucketProps {
    if (this.#removal.accessLogs === undefined) return {};
    return { serverAccessLogsBucket: this.#accessLogs, serverAccessLogsPrefix: `${id.toLowerCase()}/` };
  }

  #secretBucket(id: string, props: s3.BucketProps): s3.Bucket {
    return new s3.Bucket(this, id, {
      ...bucketDefaults,
      removalPolicy: this.#removal.data,
      encryption: s3.BucketEncryption.KMS,
      encryptionKey: this.key,
      bucketKeyEnabled: true,
      ...this.#logged(id),
      ...props,
    });
  }

  #archives(): s3.Bucket {
    const bucket = this.#secretBucket("Archives", {
      versioned: true,
      cors: [corsRule(archiveTransfers)],
      lifecycleRules: [
        // No version expires: a build keeps the version that it was made of, also after another upload to its address (ADR 0014).
        { id: "removed", expiredObjectDeleteMarker: true },
        {
          id: "rarely-read",
          transitions: [
            { storageClass: s3.StorageClass.GLACIER_INSTANT_RETRIEVAL, transitionAfter: Duration.days(90) },
          ],
        },
        unfinishedUploads,
      ],
    });
    sendEventsToEventBridge(bucket);
    return bucket;
  }

  /**
   * The inputs of image builds are deleted after 3 days, because they contain values of variables. The values that masking
   * needs stay as long as the project, because its app writes them at any time.
   */
  #artifacts(): s3.Bucket {
    return this.#secretBucket("Artifacts", {
      lifecycleRules: [{ id: "used", prefix: "builds/", expiration: Duration.days(3) }, unfinishedUploads],
    });
  }

  #files(): s3.Bucket {
    const bucket = new s3.Bucket(this, "Files", {
      ...bucketDefaults,
      removalPolicy: this.#removal.data,
      encryption: s3.BucketEncryption.S3_MANAGED,
      versioned: true,
      ...this.#logged("Files"),
      cors: [corsRule(fileTransfers)],
      lifecycleRules: [
        { id: "deleted", noncurrentVersionExpiration: Duration.days(30), expiredObjectDeleteMarker: true },
        unfinishedUploads,
      ],
    });
    sendEventsToEventBridge(bucket);
    return bucket;
  }
}
