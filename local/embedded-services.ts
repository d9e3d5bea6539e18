import { join } from "node:path";
import { errorFields, log } from "../lambdas/http/log.ts";
import { withFaults } from "./aws/call-faults.ts";
import { startAwsServer } from "./aws/server.ts";
import type { Behavior } from "./behavior.ts";
import { cacheFolder } from "./cache-folder.ts";
import { resolveImage } from "./codebuild/image.ts";
import { createRuntimes } from "./codebuild/runtimes.ts";
import { createCodeBuild } from "./codebuild/server.ts";
import { createIntegrations, readDefinition } from "./deployment-machine.ts";
import { startFaultyDynamoDb } from "./dynamodb/proxy.ts";
import { startDynamoDb } from "./dynamodb/server.ts";
import { createEcs, type Ecs } from "./ecs/server.ts";
import type { Endpoints } from "./environment.ts";
import { createFunctions, type Functions } from "./lambda/functions.ts";
import { lambdaService } from "./lambda/server.ts";
import { createLogs, type Logs } from "./logs/server.ts";
import { account, names, region, roleArn, stateMachineArn, testHeader } from "./names.ts";
import { openPorts, type Ports, unlistedPort } from "./ports.ts";
import { createRdsData } from "./rds/server.ts";
import { type S3Server, startS3 } from "./s3/server.ts";
import { createStepFunctions } from "./stepfunctions/server.ts";
import { startStsServer, stsService } from "./sts/server.ts";
import { type CredentialStore, localRootArn, openCredentials } from "./sts/store.ts";
import { createTaskCredentials, type TaskCredentials } from "./sts/task-credentials.ts";

export interface EmbeddedServices {
  functions: Functions;
  endpoints: Omit<Endpoints, "baseUrl" | "root" | "healthTimeoutSeconds">;
  /** The service's root key; no other key may call these services. */
  root: Endpoints["root"];
  /** Starts the live apps and continues all executions; must be called after the functions' environment is set. */
  resume(): Promise<void>;
}

/** The values that all parts are created from. */
interface Base {
  home: string;
  ports: Ports;
  functions: Functions;
  credentials: CredentialStore;
  logs: Logs;
  behavior: Behavior;
  started: AsyncDisposableStack;
}

async function startStorage({ home, ports, functions, credentials, behavior, started }: Base): Promise<S3Server> {
  const s3 = await startS3({
    dir: join(home, "s3"),
    port: await ports.freeOf("s3"),
    credentials,
    region,
    buckets: [
      { name: names.archives, versioned: true },
      { name: names.artifacts, versioned: false },
      { name: names.files, versioned: false, cors: true },
    ],
    // As on AWS, the role that all apps share has no permissions.
    mayUse: (principal) => !principal.includes(":assumed-role/slipway-app/"),
    faults: behavior.faults,
    behavior: behavior.s3,
    onError: (error) => log("error", "The local S3 failed", errorFields(error)),
    onObjectCreated: async (event) => {
      if (event.detail.bucket.name === names.archives) await functions.invoke("archive-uploaded", event);
      if (event.detail.bucket.name === names.files) await functions.invoke("file-uploaded", event);
    },
  });
  started.defer(s3.close);
  return s3;
}

/** Starts STS and the credentials of tasks, on the only port whose address apps get. */
async function startSts({
  credentials,
  behavior,
  started,
}: Base): Promise<{ endpoint: string; tasks: TaskCredentials }> {
  let endpoint = "";
  const tasks = createTaskCredentials({
    store: credentials,
    roleArn: roleArn("app"),
    region,
    endpoint: () => endpoint,
  });
  const sts = await startStsServer(
    [tasks.service, stsService({ credentials, faults: behavior.faults })],
    await unlistedPort("sts"),
  );
  endpoint = sts.endpoint;
  started.defer(sts.close);
  return { endpoint, tasks };
}

function createBuilds({ home, logs, behavior }: Base, s3: S3Server, ecs: Ecs) {
  const runtimes = createRuntimes(join(home, "runtimes"));
  return createCodeBuild({
    projectName: names.imageBuilds,
    region,
    workDir: join(home, "builds"),
    logGroup: names.buildLog,
    log: (line) => logs.put(line),
    behavior: behavior.codeBuild,
    builder: async (build) => {
      // Imported with the first build, so that the service starts faster.
      const { createImageBuilder } = await import("./codebuild/image-builder.ts");
      const [imagesDir, cacheDir] = [join(home, "images"), join(home, "cache")];
      const { buildAtAddress } = await import("./moved-address.ts");
      const buildImage = createImageBuilder({ imagesDir, cacheDir, runtimes, open: s3.open });
      return buildAtAddress(build, buildImage, (serviceName) => ecs.reserveAddress(serviceName));
    },
  });
}

function createContainers({ home, ports, logs, behavior }: Base, tasks: TaskCredentials) {
  return createEcs({
    dir: join(home, "ecs"),
    region,
    accountId: account,
    clusterName: names.cluster,
    behavior: behavior.ecs,
    gateway: { testHeader },
    logs,
    portFor: (serviceName) => ports.of(serviceName),
    freePortFor: (serviceName) => ports.freeOf(serviceName),
    onMoved: async (serviceName, url) => {
      const { rememberAddress } = await import("./moved-address.ts");
      await rememberAddress(names.table, serviceName, url);
    },
    resolveImage: (reference) => resolveImage(join(home, "images"), reference),
    taskCredentials: (taskId) => tasks.variables(taskId),
  });
}

function createDeployments({ home, functions, behavior }: Base, integrations: ReturnType<typeof createIntegrations>) {
  const definition = readDefinition({
    ImageBuildProject: names.imageBuilds,
    ArchivesBucket: names.archives,
    ArtifactsBucket: names.artifacts,
    ImageRepository: names.images,
  });
  return createStepFunctions({
    dir: join(home, "executions"),
    region,
    stateMachines: [{ arn: stateMachineArn, definition }],
    integrations,
    behavior: behavior.stepFunctions,
    onStatusChange: async (event) => {
      if (["FAILED", "TIMED_OUT", "ABORTED"].includes(event.detail.status))
        await functions.invoke("execution-ended", event);
    },
  });
}

/** Starts the embedded AWS services with their state in `home`; adds the functions that stop them to `started`. */
export async function startEmbeddedServices(
  { home, onLost, behavior }: { home: string; onLost(message: string): void; behavior: Behavior },
  started: AsyncDisposableStack,
): Promise<EmbeddedServices> {
  const functions = createFunctions();
  started.defer(() => functions.close());
  const credentials = openCredentials({ dir: join(home, "sts") });
  const logs = createLogs({ dir: join(home, "logs") });
  started.defer(() => logs.close());
  const base: Base = { home, ports: openPorts(home), functions, credentials, logs, behavior, started };

  const startDatabase = async () => {
    const database = await startDynamoDb({ file: join(home, "table.db"), tableName: names.table, onLost });
    started.defer(database.close);
    if (!behavior.faults) return database;
    const faulty = await startFaultyDynamoDb(database.endpoint, behavior.faults);
    started.defer(faulty.close);
    return faulty;
  };
  // Waits for both, so that if one fails, the other one can be stopped.
  const starting = [startDatabase(), startStorage(base)] as const;
  await Promise.allSettled(starting);
  const [dynamoDb, s3] = await Promise.all(starting);
  const sts = await startSts(base);
  const ecs = createContainers(base, sts.tasks);
  const codeBuild = await createBuilds(base, s3, ecs);
  const rdsData = createRdsData({ dir: join(home, "postgres"), cacheDir: cacheFolder });
  const stepFunctions = createDeployments(base, createIntegrations(functions, codeBuild));
  const aws = await startAwsServer({
    json: [
      withFaults("ECS", ecs.service, behavior.faults),
      withFaults("CodeBuild", codeBuild.service, behavior.faults),
      withFaults("StepFunctions", stepFunctions.service, behavior.faults),
      withFaults("Logs", logs.service, behavior.faults),
    ],
    raw: [lambdaService(functions), rdsData.service],
    credentials,
    region,
    port: await unlistedPort("aws"),
    // Sessions of apps and signer roles may call only STS and S3.
    mayCall: (principal) => principal === localRootArn,
  });
  started.defer(aws.close);
  started.defer(async () => {
    await Promise.all([ecs.close(), codeBuild.close(), stepFunctions.close(), rdsData.close()]);
  });
  return {
    functions,
    endpoints: { dynamoDb: dynamoDb.endpoint, aws: aws.endpoint, sts: sts.endpoint, s3: s3.endpoint },
    root: credentials.root,
    async resume() {
      await ecs.resume();
      await stepFunctions.resume();
    },
  };
}
