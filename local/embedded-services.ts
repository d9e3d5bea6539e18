import { join } from "node:path";
import { archiveTransfers, fileTransfers } from "../api/browser-transfers.ts";
import { errorFields, log } from "../lambdas/http/log.ts";
import { withFaults } from "./aws/call-faults.ts";
import { startAwsServer } from "./aws/server.ts";
import type { Behavior } from "./behavior.ts";
import { cacheFolder } from "./cache-folder.ts";
import { createCloudWatch } from "./cloudwatch/server.ts";
import type { CodeBuild } from "./codebuild/server.ts";
import type { ContainerBackend } from "./containers/container-backend.ts";
import type { Engine } from "./containers/engine.ts";
import { createIntegrations } from "./deployment-machine.ts";
import { createBuilds, createContainers, createDeployments, type EmbeddedBase } from "./deployment-services.ts";
import { startFaultyDynamoDb } from "./dynamodb/proxy.ts";
import { startDynamoDb } from "./dynamodb/server.ts";
import { folderRegistry } from "./ecr/folder-images.ts";
import type { Ecr } from "./ecr/server.ts";
import type { Endpoints } from "./environment.ts";
import { createFunctions, type Functions } from "./lambda/functions.ts";
import { lambdaService } from "./lambda/server.ts";
import { createLogs } from "./logs/server.ts";
import { names, region, roleArn } from "./names.ts";
import { openPorts, unlistedPort } from "./ports.ts";
import { createRdsData } from "./rds/server.ts";
import { createRebuiltImages, type RebuiltImages } from "./rebuilt-images.ts";
import { type S3Server, startS3 } from "./s3/server.ts";
import { startStsServer, stsService } from "./sts/server.ts";
import { localRootArn, openCredentials } from "./sts/store.ts";
import { createTaskCredentials, type TaskCredentials } from "./sts/task-credentials.ts";

/** How many services this process has started. */
let services = 0;

export interface EmbeddedServices {
  functions: Functions;
  endpoints: Omit<Endpoints, "baseUrl" | "root" | "healthTimeoutSeconds" | "releaseTimeoutSeconds" | "appServiceHost">;
  /** The service's root key; no other key may call these services. */
  root: Endpoints["root"];
  /** Lets containers reach the API at this port, before `resume`; gives its host for them, or undefined without containers. */
  openApi(port: number): Promise<string | undefined>;
  /** Starts the live apps and continues all executions; must be called after the functions' environment is set. */
  resume(): Promise<void>;
}

async function startStorage({
  home,
  ports,
  functions,
  credentials,
  behavior,
  started,
}: EmbeddedBase): Promise<S3Server> {
  const s3 = await startS3({
    dir: join(home, "s3"),
    port: await ports.freeOf("s3"),
    credentials,
    region,
    buckets: [
      { name: names.archives, versioned: true, cors: archiveTransfers },
      { name: names.artifacts, versioned: false },
      { name: names.files, versioned: false, cors: fileTransfers },
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
}: EmbeddedBase): Promise<{ endpoint: string; tasks: TaskCredentials }> {
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

/** Starts ECR, which only containers need. Its calls have a port of their own, because sessions of image builds may call them too. */
async function startImages({
  home,
  ports,
  credentials,
  engine,
  started,
}: EmbeddedBase): Promise<{ ecr: Ecr; endpoint: string } | undefined> {
  if (engine.kind === "none") {
    const { leaveEngine } = await import("./containers/leftovers.ts");
    await leaveEngine(home);
    return undefined;
  }
  const { createEcr } = await import("./ecr/server.ts");
  const ecr = await createEcr({
    dir: join(home, "ecr"),
    port: await ports.freeOf("ecr"),
    copies: { engine, imagesDir: join(home, "images") },
  });
  started.defer(ecr.close);
  const builds = `:assumed-role/${roleArn("image-builds").split("/")[1]}/`;
  const calls = await startAwsServer({
    json: [ecr.service],
    credentials,
    region,
    port: await unlistedPort("ecr"),
    mayCall: (principal) => principal === localRootArn || principal.includes(builds),
  });
  started.defer(calls.close);
  return { ecr, endpoint: calls.endpoint };
}

/** Prepares the engine for tasks; its images come from ECR. */
async function startContainers(
  base: EmbeddedBase,
  ecr: Ecr,
  tasks: TaskCredentials,
  images: RebuiltImages,
): Promise<ContainerBackend> {
  const { home, credentials, behavior, engine, started } = base;
  if (engine.kind === "none") throw new Error("ECR was started without an engine");
  const { startContainerBackend } = await import("./containers/container-backend.ts");
  const backend = await startContainerBackend({
    engine,
    home,
    credentials: tasks,
    services: [tasks.service, stsService({ credentials, faults: behavior.faults })],
    imageOf: (reference, definition) => images.find(reference, definition, (name) => ecr.pull(name, engine)),
  });
  started.defer(backend.close);
  return backend;
}

/** Starts the embedded AWS services with their state in `home`; adds the functions that stop them to `started`. */
export async function startEmbeddedServices(
  {
    home,
    onLost,
    behavior,
    engine,
  }: { home: string; onLost(message: string): void; behavior: Behavior; engine: Engine },
  started: AsyncDisposableStack,
): Promise<EmbeddedServices> {
  services += 1;
  const functions = createFunctions(services === 1 ? "" : String(services));
  started.defer(() => functions.close());
  const credentials = openCredentials({ dir: join(home, "sts") });
  const logs = createLogs({ dir: join(home, "logs") });
  started.defer(() => logs.close());
  const cloudWatch = createCloudWatch({ dir: join(home, "cloudwatch") });
  started.defer(() => cloudWatch.close());
  const ports = openPorts(home);
  const base: EmbeddedBase = { home, ports, functions, credentials, logs, cloudWatch, behavior, engine, started };

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
  const ecr = await startImages(base);
  let codeBuild: CodeBuild | undefined;
  const images = createRebuiltImages(home, () => codeBuild);
  const backend = ecr && (await startContainers(base, ecr.ecr, sts.tasks, images));
  const ecs = createContainers(base, sts.tasks, images, backend?.runner);
  const builds = await createBuilds(base, s3, ecs, ecr?.ecr);
  codeBuild = builds;
  const rdsData = createRdsData({ dir: join(home, "postgres"), cacheDir: cacheFolder });
  const stepFunctions = createDeployments(base, createIntegrations(functions, builds, behavior.faults));
  const aws = await startAwsServer({
    json: [
      withFaults("ECS", ecs.service, behavior.faults),
      withFaults("CodeBuild", builds.service, behavior.faults),
      withFaults("StepFunctions", stepFunctions.service, behavior.faults),
      withFaults("CloudWatch", cloudWatch.service, behavior.faults),
      withFaults("Logs", logs.service, behavior.faults),
      // With an engine ECR has a port of its own.
      withFaults("ECR", folderRegistry(join(home, "images")), behavior.faults),
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
    await Promise.all([ecs.close(), builds.close(), stepFunctions.close(), rdsData.close()]);
  });
  return {
    functions,
    endpoints: {
      dynamoDb: dynamoDb.endpoint,
      aws: aws.endpoint,
      sts: sts.endpoint,
      s3: s3.endpoint,
      ecr: ecr?.endpoint,
      appSts: backend?.stsEndpoint,
    },
    root: credentials.root,
    openApi: async (port) => backend?.openApi(port),
    async resume() {
      await ecs.resume();
      await stepFunctions.resume();
    },
  };
}
