import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorFields, log } from "../lambdas/http/log.ts";
import { startFront } from "./api-gateway.ts";
import { startAwsServer } from "./aws/server.ts";
import { cacheFolder } from "./cache-folder.ts";
import { createCodeBuild } from "./codebuild/codebuild.ts";
import { resolveImage } from "./codebuild/image.ts";
import { createRuntimes } from "./codebuild/runtimes.ts";
import { createIntegrations, readDefinition } from "./deployment-machine.ts";
import { startDynamoDb } from "./dynamodb/server.ts";
import { createEcs } from "./ecs/ecs.ts";
import { lockHome } from "./home-lock.ts";
import { createFunctions } from "./lambda/functions.ts";
import { createLogs } from "./logs/logs.ts";
import { isPortFree, openPorts } from "./ports.ts";
import { createRdsData } from "./rds/rds-data.ts";
import { startS3 } from "./s3/server.ts";
import { seed } from "./seed.ts";
import { createStepFunctions } from "./stepfunctions/service.ts";
import { stsService } from "./sts/operations.ts";
import { startStsServer } from "./sts/server.ts";
import { localRootArn, openCredentials } from "./sts/store.ts";
import { createTaskCredentials } from "./sts/task-credentials.ts";

const region = "us-east-1";
const account = "000000000000";
const names = {
  table: "slipway",
  archives: "slipway-archives",
  artifacts: "slipway-artifacts",
  files: "slipway-files",
  cluster: "slipway",
  imageBuilds: "slipway-images",
  images: "local/slipway-apps",
  appLog: "/slipway/apps",
  buildLog: "/slipway/builds",
} as const;
const roleArn = (role: string) => `arn:aws:iam::${account}:role/slipway-${role}`;
const stateMachineArn = `arn:aws:states:${region}:${account}:stateMachine:slipway-deployment`;
const testHeader = { name: "x-slipway-probe", value: "new-version" };
const reconcileSeconds = 60;

/** A port that somebody else listens on. */
export class PortInUse extends Error {}

export interface LocalService {
  baseUrl: string;
  /** Ends everything that was started, apps included, within 5 s. */
  stop(): Promise<void>;
  /** Resolves with a sentence when a part that cannot be replaced has ended; the caller stops the service. */
  lost: Promise<string>;
}

/** What the functions find in their environment: the names CDK gives them in AWS, and where the embedded services are. */
function setEnvironment(found: {
  dynamoDb: string;
  aws: string;
  sts: string;
  s3: string;
  baseUrl: string;
  root: { accessKeyId: string; secretAccessKey: string };
}): void {
  Object.assign(process.env, {
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
    TABLE_NAME: names.table,
    ARCHIVES_BUCKET: names.archives,
    ARCHIVES_SIGNER_ROLE: roleArn("archives-signer"),
    ARTIFACTS_BUCKET: names.artifacts,
    STATE_MACHINE_ARN: stateMachineArn,
    CLUSTER_NAME: names.cluster,
    APP_TASK_ROLE: roleArn("app"),
    APP_EXECUTION_ROLE: roleArn("app-execution"),
    APP_SUBNETS: "subnet-local",
    APP_SECURITY_GROUPS: "sg-local",
    APP_GATEWAY: "slipway",
    APP_LOG_GROUP: names.appLog,
    BUILD_LOG_GROUP: names.buildLog,
    IMAGE_REPOSITORY: names.images,
    PROBE_HEADER_NAME: testHeader.name,
    PROBE_HEADER_VALUE: testHeader.value,
    SERVICE_HOST: new URL(found.baseUrl).host,
    FILES_BUCKET: names.files,
    FILES_SIGNER_ROLE: roleArn("files-signer"),
    DATABASE_ARN: `arn:aws:rds:${region}:${account}:cluster:slipway`,
    DATABASE_SECRET_ARN: `arn:aws:secretsmanager:${region}:${account}:secret:slipway`,
    // The first call of all makes the database, which takes seconds, and minutes on a slow machine.
    DATABASE_WAIT_SECONDS: "240",
  });
  delete process.env.AWS_SESSION_TOKEN;
  delete process.env.AWS_PROFILE;
}

/** Starts the whole service on 127.0.0.1 with all state in `home`. Throws HomeInUse or PortInUse before anything is started. */
export async function startService(options: { home: string; port: number }): Promise<LocalService> {
  const { home } = options;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const lock = lockHome(home);
  const closers: (() => Promise<void> | void)[] = [() => lock.release()];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    if (!(await isPortFree(options.port))) {
      throw new PortInUse(`Port ${options.port} is in use by another program. Stop it, or set PORT to another port.`);
    }
    let onLost: (sentence: string) => void = () => {};
    const lost = new Promise<string>((resolve) => {
      onLost = resolve;
    });
    const baseUrl = await startParts({ home, port: options.port, onLost }, closers);
    return { baseUrl, stop, lost };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  { home, port, onLost }: { home: string; port: number; onLost(sentence: string): void },
  closers: (() => Promise<void> | void)[],
): Promise<string> {
  const ports = openPorts(home);
  const functions = createFunctions();
  closers.push(() => functions.close());
  const credentials = openCredentials({ dir: join(home, "sts") });
  const logs = createLogs({ dir: join(home, "logs") });
  closers.push(() => logs.close());

  const [dynamoDb, s3] = await Promise.all([
    startDynamoDb({ file: join(home, "table.db"), tableName: names.table, onLost }),
    startS3({
      dir: join(home, "s3"),
      port: await ports.freeOf("s3"),
      credentials,
      region,
      buckets: [
        { name: names.archives, versioned: true },
        { name: names.artifacts, versioned: false },
        { name: names.files, versioned: false, cors: true },
      ],
      // As in AWS: the role that all apps share may do nothing.
      mayUse: (principal) => !principal.includes(":assumed-role/slipway-app/"),
      onError: (error) => log("error", "The local S3 met an error", errorFields(error)),
      onObjectCreated: async (event) => {
        if (event.detail.bucket.name === names.archives) await functions.invoke("archive-uploaded", event);
        if (event.detail.bucket.name === names.files) await functions.invoke("file-uploaded", event);
      },
    }),
  ]);
  closers.push(dynamoDb.close, s3.close);

  let stsEndpoint = "";
  const taskCredentials = createTaskCredentials({
    store: credentials,
    roleArn: roleArn("app"),
    region,
    endpoint: () => stsEndpoint,
  });
  const sts = await startStsServer([taskCredentials.service, stsService({ credentials })]);
  stsEndpoint = sts.endpoint;
  closers.push(sts.close);
  const ecs = createEcs({
    dir: join(home, "ecs"),
    region,
    accountId: account,
    clusterName: names.cluster,
    gateway: { testHeader },
    logs,
    portFor: (serviceName) => ports.of(serviceName),
    resolveImage: (reference) => resolveImage(join(home, "images"), reference),
    taskCredentials: (taskId) => taskCredentials.variables(taskId),
  });
  const runtimes = createRuntimes(join(home, "runtimes"));
  const codeBuild = await createCodeBuild({
    projectName: names.imageBuilds,
    region,
    workDir: join(home, "builds"),
    logGroup: names.buildLog,
    log: (line) => logs.put(line),
    builder: async (build) => {
      // Loaded with the first build: the service starts without the zip reader.
      const { createImageBuilder } = await import("./codebuild/image-builder.ts");
      const [imagesDir, cacheDir] = [join(home, "images"), join(home, "cache")];
      return createImageBuilder({ imagesDir, cacheDir, runtimes, open: s3.open })(build);
    },
  });
  const integrations = createIntegrations(functions, codeBuild);
  const rdsData = createRdsData({ dir: join(home, "postgres"), cacheDir: cacheFolder });
  const stepFunctions = createStepFunctions({
    dir: join(home, "executions"),
    region,
    stateMachines: [
      {
        arn: stateMachineArn,
        definition: readDefinition({
          ImageBuildProject: names.imageBuilds,
          ArchivesBucket: names.archives,
          ArtifactsBucket: names.artifacts,
          ImageRepository: names.images,
        }),
      },
    ],
    integrations,
    onStatusChange: async (event) => {
      if (["FAILED", "TIMED_OUT", "ABORTED"].includes(event.detail.status))
        await functions.invoke("execution-ended", event);
    },
  });
  const aws = await startAwsServer({
    json: [ecs.service, codeBuild.service, stepFunctions.service, logs.service],
    raw: [functions.service, rdsData.service],
    credentials,
    region,
    // Sessions of apps and signer roles are good for STS and S3 alone.
    mayCall: (principal) => principal === localRootArn,
  });
  closers.push(aws.close);
  closers.push(() =>
    Promise.all([ecs.close(), codeBuild.close(), stepFunctions.close(), rdsData.close()]).then(() => undefined),
  );

  const front = await startFront({ port, functions });
  closers.push(front.close);
  const baseUrl = `http://127.0.0.1:${front.port}`;
  setEnvironment({
    dynamoDb: dynamoDb.endpoint,
    aws: aws.endpoint,
    sts: sts.endpoint,
    s3: s3.endpoint,
    baseUrl,
    root: credentials.root,
  });

  const runtimeFile = join(home, "runtime.json");
  writeFileSync(
    runtimeFile,
    JSON.stringify({ awsEndpoint: aws.endpoint, stsEndpoint: sts.endpoint, ...credentials.root }),
    { mode: 0o600 },
  );
  chmodSync(runtimeFile, 0o600);
  await seed({ home, baseUrl, operator: (command, input) => functions.invoke("operator", { command, input }) });
  await ecs.resume();
  await stepFunctions.resume();
  await functions.invoke("reconcile-locks", { all: true });
  const timer = setInterval(
    () => functions.invoke("reconcile-locks", {}).catch(() => undefined),
    reconcileSeconds * 1000,
  );
  closers.push(() => clearInterval(timer));
  return baseUrl;
}
