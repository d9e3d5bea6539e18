import { join } from "node:path";
import type { Behavior } from "./behavior.ts";
import type { CloudWatch } from "./cloudwatch/server.ts";
import { type ImageBuilder, resolveImage } from "./codebuild/image.ts";
import { createRuntimes, type Runtimes } from "./codebuild/runtimes.ts";
import { createCodeBuild } from "./codebuild/server.ts";
import type { Engine } from "./containers/engine.ts";
import { type createIntegrations, readDefinition } from "./deployment-machine.ts";
import type { Ecr } from "./ecr/server.ts";
import { createEcs, type Ecs } from "./ecs/server.ts";
import type { TaskRunner } from "./ecs/task-runner.ts";
import type { Functions } from "./lambda/functions.ts";
import type { Logs } from "./logs/server.ts";
import { account, names, region, removalMachineArn, stateMachineArn, testHeader } from "./names.ts";
import type { Ports } from "./ports.ts";
import type { RebuiltImages } from "./rebuilt-images.ts";
import type { S3Server } from "./s3/server.ts";
import { createStepFunctions } from "./stepfunctions/server.ts";
import type { CredentialStore } from "./sts/store.ts";
import type { TaskCredentials } from "./sts/task-credentials.ts";

/** The values that all embedded services are created from. */
export interface EmbeddedBase {
  home: string;
  ports: Ports;
  functions: Functions;
  credentials: CredentialStore;
  logs: Logs;
  cloudWatch: CloudWatch;
  behavior: Behavior;
  engine: Engine;
  started: AsyncDisposableStack;
}

/** CodeBuild, which builds the images from the archives in S3. */
export function createBuilds(base: EmbeddedBase, s3: S3Server, ecs: Ecs, ecr: Ecr | undefined) {
  const { home, logs, behavior } = base;
  const runtimes = createRuntimes(join(home, "runtimes"));
  return createCodeBuild({
    projectName: names.imageBuilds,
    region,
    workDir: join(home, "builds"),
    logGroup: names.buildLog,
    log: (line) => logs.put(line),
    behavior: behavior.codeBuild,
    builder: async (build) => {
      const { buildAtAddress } = await import("./moved-address.ts");
      const buildImage = ecr ? await containerBuilder(base, ecr) : await processBuilder(base, runtimes, s3);
      return buildAtAddress(build, buildImage, (serviceName) => ecs.reserveAddress(serviceName));
    },
  });
}

/** Builds images as folders with the programs of this machine. Imported with the first build, so that the service starts faster. */
async function processBuilder({ home }: EmbeddedBase, runtimes: Runtimes, s3: S3Server): Promise<ImageBuilder> {
  const { createImageBuilder } = await import("./codebuild/image-builder.ts");
  return createImageBuilder({
    imagesDir: join(home, "images"),
    cacheDir: join(home, "cache"),
    runtimes,
    open: s3.open,
  });
}

/** Builds images with the engine's BuildKit. */
async function containerBuilder({ home, engine, functions }: EmbeddedBase, ecr: Ecr): Promise<ImageBuilder> {
  if (engine.kind === "none") throw new Error("ECR was started without an engine");
  const { createContainerBuilder } = await import("./codebuild/container-builder.ts");
  const { homeLabels, labelsOf } = await import("./containers/labels.ts");
  const { invoke } = functions;
  const labels = labelsOf(homeLabels(home));
  return createContainerBuilder({ engine, registryHost: ecr.host, repositories: names.repositories, labels, invoke });
}

/** ECS with its gateway, which runs the apps: with `runner`, or as processes of this machine. */
export function createContainers(
  { home, ports, logs, cloudWatch, behavior }: EmbeddedBase,
  tasks: TaskCredentials,
  images: RebuiltImages,
  runner: TaskRunner | undefined,
) {
  return createEcs({
    dir: join(home, "ecs"),
    region,
    accountId: account,
    clusterName: names.cluster,
    behavior: behavior.ecs,
    runner,
    gateway: { testHeader },
    logs,
    metrics: cloudWatch,
    portFor: (serviceName) => ports.of(serviceName),
    freePortFor: (serviceName) => ports.freeOf(serviceName),
    onMoved: async (serviceName, url) => {
      const { rememberAddress } = await import("./moved-address.ts");
      await rememberAddress(names.table, serviceName, url);
    },
    resolveImage: (reference, definition) =>
      images.find(reference, definition, (name) => resolveImage(join(home, "images"), name)),
    taskCredentials: (taskId) => tasks.variables(taskId),
  });
}

/** Step Functions with the state machine of deployments. */
export function createDeployments(
  { home, functions, behavior }: EmbeddedBase,
  integrations: ReturnType<typeof createIntegrations>,
) {
  const definition = readDefinition("deployment", {
    ImageBuildProject: names.imageBuilds,
    ArchivesBucket: names.archives,
    ArtifactsBucket: names.artifacts,
    ImageRepository: names.images,
  });
  return createStepFunctions({
    dir: join(home, "executions"),
    region,
    stateMachines: [
      { arn: stateMachineArn, definition },
      { arn: removalMachineArn, definition: readDefinition("removal", {}) },
    ],
    integrations,
    behavior: behavior.stepFunctions,
    onStatusChange: async (event) => {
      if (event.detail.stateMachineArn !== stateMachineArn) return;
      if (["FAILED", "TIMED_OUT", "ABORTED"].includes(event.detail.status))
        await functions.invoke("execution-ended", event);
    },
  });
}
