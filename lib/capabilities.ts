import type { Capability } from "../api/capabilities.ts";
import { capabilityEnvironment, type EnvironmentName } from "../api/environment.ts";
import { limits } from "../api/limits.ts";
import type { Allowance } from "./allow.ts";
import {
  appMetrics,
  appOutput,
  appsDeploy,
  appsExits,
  appsIdentify,
  appsRead,
  appsRemove,
  appsRun,
  appsSwitch,
  appsWatch,
  logStreams,
  outputRemove,
  releasesStop,
  taskDefinitionsRemove,
} from "./allow-apps.ts";
import {
  archivesCopy,
  archivesRead,
  archivesRemove,
  artifactsWrite,
  buildValuesRead,
  databasesRun,
  filesLook,
  filesRemove,
  tableRead,
  tableScan,
  tableUpdate,
  tableWrite,
} from "./allow-data.ts";
import { imageBuildsGrant, imagesExpire, imagesRemove } from "./allow-image-builds.ts";
import type { Resources } from "./resources.ts";

const assumeSigner = (roleArn: string): Allowance[] => [{ actions: ["sts:AssumeRole"], resources: [roleArn] }];

/** The IAM actions and resources of each capability of `api/capabilities.ts`. */
export const capabilityAllowances: Record<Capability, (r: Resources) => Allowance[]> = {
  "table:read": tableRead,
  "table:write": tableWrite,
  "table:scan": tableScan,
  "keys:record-use": tableUpdate,
  "events:record": tableUpdate,
  "live-build:cache": tableUpdate,
  "files:follow": tableUpdate,
  "archives:upload": (r) => assumeSigner(r.signers.archives.roleArn),
  "archives:read": archivesRead,
  "archives:copy": archivesCopy,
  "artifacts:write": artifactsWrite,
  "deployments:start": (r) => [
    { actions: ["states:StartExecution"], resources: [r.stateMachine.arn] },
    {
      actions: ["states:DescribeExecution"],
      resources: [r.stateMachine.executionArns],
      because: "Executions are named after builds.",
    },
  ],
  "deployments:stop": (r) => [
    {
      actions: ["states:StopExecution"],
      resources: [r.stateMachine.executionArns],
      because: "Executions are named after builds.",
    },
  ],
  "removals:start": (r) => [
    { actions: ["states:StartExecution"], resources: [r.removalMachine.arn] },
    {
      actions: ["states:DescribeExecution"],
      resources: [r.removalMachine.executionArns],
      because: "Executions are named after what is removed.",
    },
  ],
  "archives:remove": archivesRemove,
  "images:remove": imagesRemove,
  "output:remove": outputRemove,
  "apps:remove": appsRemove,
  "task-definitions:remove": taskDefinitionsRemove,
  "deployments:resume": (r) => [{ actions: ["states:SendTaskSuccess"], resources: [r.stateMachine.arn] }],
  "apps:read": appsRead,
  "apps:identify": appsIdentify,
  "apps:watch": appsWatch,
  "apps:deploy": appsDeploy,
  "apps:exits": appsExits,
  "apps:run": appsRun,
  "releases:stop": releasesStop,
  "build-values:read": buildValuesRead,
  "apps:switch": appsSwitch,
  "logs:read": logStreams,
  "app-output:read": appOutput,
  "app-metrics:read": appMetrics,
  /** The function only forwards the caller's signed request to STS, so it needs no permission. */
  "identity:prove": () => [],
  "console-sessions:renew": tableUpdate,
  /** The address is in the environment. */
  "service:call": () => [],
  "console:locate": () => [],
  "uploads:locate": () => [],
  "domains:route": () => [],
  "files:sign": (r) => assumeSigner(r.signers.files.roleArn),
  "files:look": filesLook,
  "files:remove": filesRemove,
  "databases:run": databasesRun,
  "image-builds:grant": imageBuildsGrant,
  "images:expire": imagesExpire,
};

function environmentValues(r: Resources): Record<EnvironmentName, string> {
  return {
    TABLE_NAME: r.data.table.tableName,
    ARCHIVES_BUCKET: r.data.archives.bucketName,
    ARCHIVES_SIGNER_ROLE: r.signers.archives.roleArn,
    ARTIFACTS_BUCKET: r.data.artifacts.bucketName,
    STATE_MACHINE_ARN: r.stateMachine.arn,
    REMOVAL_MACHINE_ARN: r.removalMachine.arn,
    // Longer than the longest step of a deployment runs, and than an upload address signed before can start one.
    REMOVAL_SETTLE_SECONDS: "3900",
    CLUSTER_NAME: r.apps.cluster.clusterName,
    APP_TASK_ROLE: r.apps.taskRole.roleArn,
    APP_EXECUTION_ROLE: r.apps.executionRole.roleArn,
    APP_SUBNETS: r.network.vpc.publicSubnets.map((subnet) => subnet.subnetId).join(","),
    APP_SECURITY_GROUPS: r.network.tasks.securityGroupId,
    APP_LOG_GROUP: r.apps.output.logGroupName,
    IMAGE_REPOSITORY: r.apps.images.uri,
    HEALTH_TIMEOUT_SECONDS: String(limits.healthTimeoutSeconds),
    RELEASE_TIMEOUT_SECONDS: String(limits.releaseTimeoutSeconds),
    PROBE_HEADER_NAME: r.apps.probeHeader.name,
    PROBE_HEADER_VALUE: r.apps.probeHeader.value,
    // The awslogs driver of other tasks may deliver earlier lines this much later.
    OUTPUT_SETTLE_MS: "10000",
    BUILD_LOG_GROUP: r.imageBuild.output.logGroupName,
    SERVICE_HOST: r.serviceHost,
    CUSTOM_DOMAINS: "unrouted",
    CONSOLE_ORIGIN: `https://${r.serviceHost}`,
    FILES_BUCKET: r.data.files.bucketName,
    FILES_SIGNER_ROLE: r.signers.files.roleArn,
    DATABASE_ARN: r.database?.cluster.clusterArn ?? "none",
    DATABASE_SECRET_ARN: r.database?.secretArn ?? "none",
    // A request's deadline is 22 s, and a statement's answer is waited for 2 s longer; a paused database usually resumes in 15 s.
    DATABASE_WAIT_SECONDS: "19",
    IMAGE_BUILD_PROJECT: r.imageBuild.project.projectName,
    IMAGE_BUILD_ROLE: r.imageBuild.sessions.roleArn,
    IMAGE_KEY: r.data.key.keyArn,
    IMAGE_REPOSITORIES: r.apps.images.arn,
    BASE_IMAGES: r.baseImages.arn,
  };
}

/** The variables of a function with these capabilities, as listed in `api/environment.ts`. */
export function environmentOf(r: Resources, uses: readonly Capability[]): Partial<Record<EnvironmentName, string>> {
  const values = environmentValues(r);
  const names = [...new Set(uses.flatMap((capability) => capabilityEnvironment[capability]))].sort();
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
