import { ArnFormat, Aws, Stack } from "aws-cdk-lib";
import type { Capability } from "../api/capabilities.ts";
import { capabilityEnvironment, type EnvironmentName } from "../api/environment.ts";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

/** The key may be used through one service only, never by calling KMS itself. */
function throughService(r: Resources, service: "dynamodb" | "s3", actions: readonly string[]): Allowance {
  const via = `${service}.${Aws.REGION}.amazonaws.com`;
  return { actions, resources: [r.data.key.keyArn], conditions: { StringEquals: { "kms:ViaService": via } } };
}

/** DynamoDB's transactions are no IAM actions: each write in one needs its own. */
const tableRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["dynamodb:BatchGetItem", "dynamodb:Query"], resources: [r.data.table.tableArn] },
  { actions: ["dynamodb:Query"], resources: [`${r.data.table.tableArn}/index/locks`] },
  throughService(r, "dynamodb", ["kms:Decrypt", "kms:DescribeKey"]),
];
const tableWrite: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["dynamodb:ConditionCheckItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
    resources: [r.data.table.tableArn],
  },
  throughService(r, "dynamodb", [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
  ]),
];

const namedAfter = "The objects are named after organizations, projects and builds.";
const archiveObjects = (r: Resources) => [r.data.archives.arnForObjects("archives/*")];
/** Without it S3 answers 403 instead of 404 for an object that is gone. */
const listing = (bucketArn: string): Allowance => ({ actions: ["s3:ListBucket"], resources: [bucketArn] });

const archivesRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:GetObject", "s3:GetObjectVersion"], resources: archiveObjects(r), because: namedAfter },
  listing(r.data.archives.bucketArn),
  throughService(r, "s3", ["kms:Decrypt"]),
];
const archivesCopy: (r: Resources) => Allowance[] = (r) => [
  ...archivesRead(r),
  { actions: ["s3:PutObject"], resources: archiveObjects(r), because: namedAfter },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];
const artifactsWrite: (r: Resources) => Allowance[] = (r) => [
  { actions: ["s3:PutObject"], resources: [r.data.artifacts.arnForObjects("builds/*")], because: namedAfter },
  throughService(r, "s3", ["kms:Decrypt", "kms:GenerateDataKey"]),
];

const perProject = "Services, deployments and tasks are named after projects, inside this one cluster.";

function ecsArn(r: Resources, resource: string, rest: string): string {
  return Stack.of(r.apps).formatArn({
    service: "ecs",
    resource,
    resourceName: `${r.apps.cluster.clusterName}/${rest}`,
  });
}
const services = (r: Resources) => [ecsArn(r, "service", "app-*")];
const serviceDeployments = (r: Resources) => [ecsArn(r, "service-deployment", "app-*/*")];
const inCluster = (r: Resources) => ({ ArnEquals: { "ecs:cluster": r.apps.cluster.clusterArn } });

const describeTasks = (r: Resources): Allowance => ({
  actions: ["ecs:DescribeTasks"],
  resources: [ecsArn(r, "task", "*")],
  conditions: inCluster(r),
  because: perProject,
});
const appsRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:DescribeServices"], resources: services(r), because: perProject },
  describeTasks(r),
  {
    actions: ["ecs:DescribeGatewayRoute", "ecs:ListGatewayRoutes"],
    resources: ["*"],
    because:
      "Routes get their ids from ECS, and listing has no resource; what they tell is public: the apps' addresses.",
  },
];
const appsDeploy: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:RegisterTaskDefinition"],
    resources: ["*"],
    because: "Registering has no resource: the task definition does not exist yet.",
  },
  { actions: ["ecs:CreateService", "ecs:UpdateService"], resources: services(r), because: perProject },
  {
    actions: ["iam:PassRole"],
    resources: [r.apps.taskRole.roleArn, r.apps.executionRole.roleArn],
    conditions: { StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" } },
  },
];
const appsSwitch: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:DescribeServices", "ecs:ListServiceDeployments"],
    resources: services(r),
    because: perProject,
  },
  {
    actions: ["ecs:ContinueServiceDeployment", "ecs:DescribeServiceDeployments", "ecs:StopServiceDeployment"],
    resources: serviceDeployments(r),
    because: perProject,
  },
  {
    actions: ["ecs:ListTasks"],
    resources: ["*"],
    conditions: inCluster(r),
    because: "Listing tasks has no resource on Fargate; the condition holds it to this cluster.",
  },
  describeTasks(r),
];

/** Not from the group's own ARN, which ends in a `:*` of its own. */
function streamsOf(r: Resources, group: string): string {
  const resourceName = `${group}:log-stream:*`;
  return Stack.of(r.apps).formatArn({
    service: "logs",
    resource: "log-group",
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
const logStreams: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["logs:GetLogEvents"],
    resources: [streamsOf(r, r.apps.output.logGroupName), streamsOf(r, r.imageBuild.output.logGroupName)],
    because: "Streams are named after builds and tasks.",
  },
];

const filesManage: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["s3:DeleteObject", "s3:GetObject"],
    resources: [r.data.files.arnForObjects("*")],
    because: "The objects are named after organizations and files.",
  },
  listing(r.data.files.bucketArn),
];

const databasesRun: (r: Resources) => Allowance[] = (r) =>
  r.database === undefined
    ? []
    : [
        {
          actions: [
            "rds-data:BeginTransaction",
            "rds-data:CommitTransaction",
            "rds-data:ExecuteStatement",
            "rds-data:RollbackTransaction",
          ],
          resources: [r.database.cluster.clusterArn],
        },
        { actions: ["secretsmanager:GetSecretValue"], resources: [r.database.secretArn] },
        {
          actions: ["kms:Decrypt"],
          resources: [r.data.key.keyArn],
          conditions: { StringEquals: { "kms:ViaService": `secretsmanager.${Aws.REGION}.amazonaws.com` } },
        },
      ];

const assumeSigner = (roleArn: string): Allowance[] => [{ actions: ["sts:AssumeRole"], resources: [roleArn] }];

/** What each capability of `api/capabilities.ts` is in IAM: these actions on these resources, and nothing else. */
export const capabilityAllowances: Record<Capability, (r: Resources) => Allowance[]> = {
  "table:read": tableRead,
  "table:write": tableWrite,
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
  "deployments:resume": (r) => [
    { actions: ["states:SendTaskFailure", "states:SendTaskSuccess"], resources: [r.stateMachine.arn] },
  ],
  "apps:read": appsRead,
  "apps:deploy": appsDeploy,
  "apps:switch": appsSwitch,
  "logs:read": logStreams,
  /** The proof signs itself: the function replays it to STS and adds nothing of its own. */
  "identity:prove": () => [],
  "files:sign": (r) => assumeSigner(r.signers.files.roleArn),
  "files:manage": filesManage,
  "databases:run": databasesRun,
};

function environmentValues(r: Resources): Record<EnvironmentName, string> {
  return {
    TABLE_NAME: r.data.table.tableName,
    ARCHIVES_BUCKET: r.data.archives.bucketName,
    ARCHIVES_SIGNER_ROLE: r.signers.archives.roleArn,
    ARTIFACTS_BUCKET: r.data.artifacts.bucketName,
    STATE_MACHINE_ARN: r.stateMachine.arn,
    CLUSTER_NAME: r.apps.cluster.clusterName,
    APP_TASK_ROLE: r.apps.taskRole.roleArn,
    APP_EXECUTION_ROLE: r.apps.executionRole.roleArn,
    APP_SUBNETS: r.network.vpc.publicSubnets.map((subnet) => subnet.subnetId).join(","),
    APP_SECURITY_GROUPS: r.network.tasks.securityGroupId,
    APP_GATEWAY: r.apps.gatewayName,
    APP_LOG_GROUP: r.apps.output.logGroupName,
    IMAGE_REPOSITORY: r.apps.images.repositoryUri,
    PROBE_HEADER_NAME: r.apps.probeHeader.name,
    PROBE_HEADER_VALUE: r.apps.probeHeader.value,
    BUILD_LOG_GROUP: r.imageBuild.output.logGroupName,
    SERVICE_HOST: r.serviceHost,
    FILES_BUCKET: r.data.files.bucketName,
    FILES_SIGNER_ROLE: r.signers.files.roleArn,
    DATABASE_ARN: r.database?.cluster.clusterArn ?? "none",
    DATABASE_SECRET_ARN: r.database?.secretArn ?? "none",
  };
}

/** The variables of a function with these capabilities: exactly those that `api/environment.ts` names. */
export function environmentOf(r: Resources, uses: readonly Capability[]): Partial<Record<EnvironmentName, string>> {
  const values = environmentValues(r);
  const names = [...new Set(uses.flatMap((capability) => capabilityEnvironment[capability]))].sort();
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
