import { account, names, region, removalMachineArn, roleArn, stateMachineArn, testHeader } from "./names.ts";

/** The endpoints of the embedded services, and the key that they accept. */
export interface Endpoints {
  dynamoDb: string;
  aws: string;
  sts: string;
  s3: string;
  /** Only where images are built in containers. */
  ecr?: string | undefined;
  /** Where containers reach STS and the service; absent where apps are processes. */
  appSts?: string | undefined;
  appServiceHost?: string | undefined;
  baseUrl: string;
  root: { accessKeyId: string; secretAccessKey: string };
  healthTimeoutSeconds: number;
  releaseTimeoutSeconds: number;
}

/** The functions' environment: the variables that CDK sets on AWS, and the endpoints of the embedded services. */
function variablesFor(found: Endpoints): Record<string, string | undefined> {
  return {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: found.root.accessKeyId,
    AWS_SECRET_ACCESS_KEY: found.root.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_ENDPOINT_URL: found.aws,
    AWS_ENDPOINT_URL_DYNAMODB: found.dynamoDb,
    AWS_ENDPOINT_URL_S3: found.s3,
    AWS_ENDPOINT_URL_STS: found.sts,
    AWS_ENDPOINT_URL_ECR: found.ecr,
    APP_STS_ORIGIN: found.appSts,
    APP_SERVICE_HOST: found.appServiceHost,
    TABLE_NAME: names.table,
    ARCHIVES_BUCKET: names.archives,
    ARCHIVES_SIGNER_ROLE: roleArn("archives-signer"),
    ARTIFACTS_BUCKET: names.artifacts,
    STATE_MACHINE_ARN: stateMachineArn,
    REMOVAL_MACHINE_ARN: removalMachineArn,
    // No function runs for longer here.
    REMOVAL_SETTLE_SECONDS: "30",
    CLUSTER_NAME: names.cluster,
    APP_TASK_ROLE: roleArn("app"),
    APP_EXECUTION_ROLE: roleArn("app-execution"),
    APP_SUBNETS: "subnet-local",
    APP_SECURITY_GROUPS: "sg-local",
    APP_LOG_GROUP: names.appLog,
    BUILD_LOG_GROUP: names.buildLog,
    // Lines are stored at once; those of this millisecond may still get others before them.
    OUTPUT_SETTLE_MS: "1",
    IMAGE_REPOSITORY: names.images,
    IMAGE_BUILD_PROJECT: names.imageBuilds,
    IMAGE_BUILD_ROLE: roleArn("image-builds"),
    IMAGE_KEY: `arn:aws:kms:${region}:${account}:key/slipway`,
    IMAGE_REPOSITORIES: `arn:aws:ecr:${region}:${account}:repository/${names.repositories}`,
    BASE_IMAGES: `arn:aws:ecr:${region}:${account}:repository/slipway-base`,
    PROBE_HEADER_NAME: testHeader.name,
    PROBE_HEADER_VALUE: testHeader.value,
    HEALTH_TIMEOUT_SECONDS: String(found.healthTimeoutSeconds),
    RELEASE_TIMEOUT_SECONDS: String(found.releaseTimeoutSeconds),
    SERVICE_HOST: new URL(found.baseUrl).host,
    // Browsers allow passkeys on localhost, but not on an IP address.
    CUSTOM_DOMAINS: "routed",
    CONSOLE_ORIGIN: `http://localhost:${new URL(found.baseUrl).port}`,
    FILES_BUCKET: names.files,
    FILES_SIGNER_ROLE: roleArn("files-signer"),
    DATABASE_ARN: `arn:aws:rds:${region}:${account}:cluster:slipway`,
    DATABASE_SECRET_ARN: `arn:aws:secretsmanager:${region}:${account}:secret:slipway`,
    // The first call creates the database, which takes seconds, or minutes on a slow machine.
    DATABASE_WAIT_SECONDS: "240",
    AWS_SESSION_TOKEN: undefined,
    AWS_PROFILE: undefined,
  };
}

/** Sets the functions' environment in process.env; so only one service can run in a process at a time. */
export function setEnvironment(found: Endpoints): void {
  for (const [name, value] of Object.entries(variablesFor(found))) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
