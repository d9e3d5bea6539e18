import { expect, it } from "vitest";
import { type Capability, capabilities } from "../../api/capabilities.ts";
import { routes } from "../../api/index.ts";
import { capabilitiesOf } from "../../api/route.ts";
import { buildValuesKey, familyOf, repositoryNameOf, serviceName, taskLog } from "../../lambdas/aws/app-names.ts";
import { archiveKey } from "../../lambdas/builds/model/replies.ts";
import { imageBuildActions } from "../../statemachines/image-build-actions.ts";
import { imageBuildServices, listeners, operatorUses, removalSteps, steps } from "../../statemachines/steps.ts";
import { ofType, resources } from "./assembly.ts";
import { functions, type Grant, grantsFor, grantsOf, lineOf, trustOf, written } from "./policies.ts";

const usesOf = new Map<string, readonly Capability[]>([
  ...routes.map((route) => [route.id, capabilitiesOf(route)] as const),
  ...Object.entries({ ...steps, ...removalSteps, ...listeners, ...imageBuildServices }).map(
    ([id, step]) => [id, step.uses] as const,
  ),
  ["operator", operatorUses],
  ["not-found", []],
]);

/** The permissions that functions need for logs and the dead-letter queue, with any capabilities. */
const wiring = ["logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage"];
const lines = (grants: Grant[]) => [...new Set(grants.map(lineOf))].sort();

it("every Lambda has a role of its own, with one inline policy and nothing attached", () => {
  const roleIds = functions().map(({ roleId }) => roleId);
  expect(new Set(roleIds).size).toBe(roleIds.length);
  const roles = new Map(ofType("AWS::IAM::Role"));
  for (const roleId of roleIds) {
    expect(roles.get(roleId)?.Properties.ManagedPolicyArns ?? []).toEqual([]);
    expect(roles.get(roleId)?.Properties.Policies).toHaveLength(1);
  }
  const attached = ofType("AWS::IAM::Policy").flatMap(([, { Properties }]) => Properties.Roles.map(written));
  expect(attached.filter((role: string) => roleIds.some((id) => role.includes(id)))).toEqual([]);
});

it("each function has exactly the permissions of its capabilities", () => {
  for (const { id, roleId } of functions()) {
    const own = grantsOf(roleId).filter(({ action }) => !wiring.includes(action));
    const stated = (usesOf.get(id) ?? []).flatMap(grantsFor);
    expect([id, lines(own)]).toEqual([id, lines(stated)]);
  }
});

it("each function can write its output, and a listener can keep the event that it failed to handle", () => {
  const output = ["logs:CreateLogStream <FunctionsOutput>", "logs:PutLogEvents <FunctionsOutput>"];
  for (const { id, roleId } of functions()) {
    const own = grantsOf(roleId).filter(({ action }) => wiring.includes(action));
    expect([id, lines(own)]).toEqual([id, id in listeners ? [...output, "sqs:SendMessage <EventsLost>"] : output]);
  }
});

it("every route that authenticates its caller can record the use of a key", () => {
  const proving = routes.filter(({ definition }) => definition.credential !== "none");
  expect(proving.length).toBeGreaterThan(25);
  const roles = new Map(functions().map(({ id, roleId }) => [id, roleId]));
  for (const { id } of proving) {
    const own = grantsOf(roles.get(id) ?? "").map(lineOf);
    expect([id, own]).toEqual([id, expect.arrayContaining(grantsFor("keys:record-use").map(lineOf))]);
    expect([id, own]).toEqual([id, expect.arrayContaining([expect.stringMatching(/^dynamodb:UpdateItem <.*Table/)])]);
  }
});

it("a GET can neither put nor delete a row", () => {
  const roles = new Map(functions().map(({ id, roleId }) => [id, roleId]));
  for (const { id } of routes.filter(({ method }) => method === "GET")) {
    const held = grantsOf(roles.get(id) ?? "").map(({ action }) => action);
    expect([id, held.filter((action) => /^dynamodb:(Put|Delete|BatchWrite)/.test(action))]).toEqual([id, []]);
  }
});

it("a GET changes no file", () => {
  const roles = new Map(functions().map(({ id, roleId }) => [id, roleId]));
  for (const { id } of routes.filter(({ method }) => method === "GET")) {
    const held = grantsOf(roles.get(id) ?? "").map(({ action }) => action);
    expect([id, held.filter((action) => /^s3:(?!Get|List)/.test(action))]).toEqual([id, []]);
  }
});

it("the capabilities of each function", () => {
  const projection = functions().map(({ id }) => `${id}: ${[...(usesOf.get(id) ?? [])].sort().join(" ")}`);
  expect(projection.sort().join("\n")).toMatchInlineSnapshot(`
    "analyze: archives:read artifacts:write table:read table:write
    archive-uploaded: deployments:resume table:read
    await-upload: archives:read deployments:resume table:read table:write
    begin-passkey-sign-in: console:locate table:write
    begin-passkey: console:locate keys:record-use table:read table:write
    cancel-build: events:record keys:record-use table:read table:write
    check-health: apps:read apps:switch apps:watch build-values:read logs:read table:read table:write
    connect-tool: table:read table:write
    copy-archive: archives:copy archives:read table:read table:write
    create-build: archives:upload deployments:start events:record keys:record-use table:read table:write
    create-connection-code: keys:record-use table:read table:write
    create-console-session: console:locate table:read table:write
    create-credential: events:record keys:record-use table:read table:write
    create-database: events:record keys:record-use table:read table:write
    create-domain: events:record keys:record-use table:read table:write
    create-environment: events:record keys:record-use table:read table:write
    create-files: events:record files:sign keys:record-use table:read table:write
    create-member: console:locate events:record keys:record-use table:read table:write
    create-organization: events:record keys:record-use table:read table:write
    create-passkey: console:locate events:record keys:record-use table:read table:write
    create-project: events:record keys:record-use table:read table:write
    create-row: databases:run keys:record-use table:read table:write
    create-session: apps:identify identity:prove keys:record-use table:read table:write
    create-storage: events:record keys:record-use table:read table:write
    create-table: databases:run events:record keys:record-use table:read table:write
    create-token: events:record keys:record-use table:read table:write
    delete-console-session: console:locate table:read table:write
    delete-console-sessions: events:record keys:record-use table:read table:write
    delete-credential: events:record keys:record-use table:read table:write
    delete-database: events:record keys:record-use removals:start table:read table:write
    delete-domain: events:record keys:record-use table:read table:write
    delete-environment: events:record keys:record-use table:read table:write
    delete-file: events:record files:remove keys:record-use table:read table:write
    delete-member: events:record keys:record-use table:read table:write
    delete-passkey: events:record keys:record-use table:read table:write
    delete-project: apps:remove events:record keys:record-use removals:start table:read table:write
    delete-row: databases:run keys:record-use table:read
    delete-storage: events:record keys:record-use table:read table:write
    delete-table: databases:run events:record keys:record-use table:read
    delete-token: events:record keys:record-use table:read table:write
    deploy: apps:deploy apps:read apps:watch table:read table:write
    end-console-session: events:record keys:record-use table:read table:write
    execution-ended: apps:deploy apps:read apps:switch apps:watch releases:stop table:read table:write
    fail-build: build-values:read logs:read releases:stop table:read table:write
    file-uploaded: files:follow files:look files:remove table:read
    finish: table:read table:write
    get-build: apps:exits apps:read build-values:read keys:record-use live-build:cache logs:read table:read
    get-console-session: console-sessions:renew console:locate table:read
    get-docs: 
    get-file: files:follow files:look files:sign keys:record-use table:read
    get-llms: 
    get-me: keys:record-use table:read
    get-metrics: app-metrics:read keys:record-use table:read
    get-openapi: 
    get-organization: keys:record-use table:read
    get-project: keys:record-use table:read
    get-row: databases:run keys:record-use table:read
    get-settings-schema: 
    grant-build-access: apps:read apps:watch image-builds:grant images:expire table:read
    list-app-logs: app-output:read build-values:read keys:record-use table:read
    list-build-logs: build-values:read keys:record-use logs:read table:read
    list-builds: apps:read keys:record-use live-build:cache table:read
    list-console-sessions: keys:record-use table:read
    list-credentials: keys:record-use table:read
    list-databases: keys:record-use table:read
    list-domains: keys:record-use table:read
    list-endpoints: apps:read keys:record-use table:read
    list-environments: keys:record-use table:read
    list-events: keys:record-use table:read
    list-files: keys:record-use table:read
    list-members: keys:record-use table:read
    list-organizations: keys:record-use table:read
    list-passkeys: keys:record-use table:read
    list-projects: keys:record-use table:read
    list-rows: databases:run keys:record-use table:read
    list-storages: keys:record-use table:read
    list-tables: databases:run keys:record-use table:read
    list-tokens: keys:record-use table:read
    not-found: 
    operator: console:locate domains:route table:read table:scan table:write
    ping: keys:record-use table:read
    rebuild: apps:read archives:read deployments:start events:record keys:record-use live-build:cache table:read table:write
    reconcile-locks: apps:deploy apps:read apps:switch apps:watch deployments:start releases:stop removals:start table:read table:write
    redeploy-build: apps:read archives:read deployments:start events:record keys:record-use live-build:cache table:read table:write
    release: apps:deploy apps:read apps:run build-values:read logs:read table:read table:write
    remove: apps:remove archives:remove databases:run deployments:stop images:remove output:remove table:read table:write task-definitions:remove
    roll-back: apps:deploy apps:read apps:switch apps:watch table:read table:write
    serve-console: 
    serve-mcp: 
    set-managers: events:record keys:record-use table:read table:write
    sign-in-with-passkey: console:locate table:read table:write
    update-database: events:record keys:record-use table:read table:write
    update-environment: events:record keys:record-use table:read table:write
    update-member: events:record keys:record-use table:read table:write
    update-organization: events:record keys:record-use table:read table:write
    update-project: events:record keys:record-use table:read table:write
    update-row: databases:run keys:record-use table:read
    update-storage: events:record keys:record-use table:read table:write
    update-table: databases:run events:record keys:record-use table:read"
  `);
});

it("the permissions of each capability", () => {
  const projection = capabilities.map((capability) => [capability, ...lines(grantsFor(capability))].join("\n  "));
  expect(projection.join("\n")).toMatchInlineSnapshot(`
    "table:read
      dynamodb:BatchGetItem <DataTable>
      dynamodb:Query <DataTable>
      dynamodb:Query <DataTable>/index/locks
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    table:write
      dynamodb:ConditionCheckItem <DataTable>
      dynamodb:DeleteItem <DataTable>
      dynamodb:PutItem <DataTable>
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    table:scan
      dynamodb:Scan <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    keys:record-use
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    events:record
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    live-build:cache
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    files:follow
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    archives:upload
      sts:AssumeRole <SignersArchives>
    archives:read
      kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      s3:GetObject <DataArchives>/archives/*
      s3:GetObjectVersion <DataArchives>/archives/*
      s3:ListBucket <DataArchives>
    archives:copy
      kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      s3:GetObject <DataArchives>/archives/*
      s3:GetObjectVersion <DataArchives>/archives/*
      s3:ListBucket <DataArchives>
      s3:PutObject <DataArchives>/archives/*
    artifacts:write
      kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      s3:PutObject <DataArtifacts>/builds/*
      s3:PutObject <DataArtifacts>/values/*
    deployments:start
      states:DescribeExecution arn:<Partition>:states:<Region>:<AccountId>:execution:Slipway-deployment:*
      states:StartExecution arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-deployment
    deployments:stop
      states:StopExecution arn:<Partition>:states:<Region>:<AccountId>:execution:Slipway-deployment:*
    removals:start
      states:DescribeExecution arn:<Partition>:states:<Region>:<AccountId>:execution:Slipway-removal:*
      states:StartExecution arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-removal
    archives:remove
      s3:DeleteObjectVersion <DataArchives>/archives/*
      s3:DeleteObjectVersion <DataArtifacts>/values/*
      s3:ListBucketVersions <DataArchives>
      s3:ListBucketVersions <DataArtifacts>
    images:remove
      ecr:DeleteRepository arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService ecr.<Region>.amazonaws.com
      kms:RetireGrant <DataKey> if StringEquals kms:ViaService ecr.<Region>.amazonaws.com
    output:remove
      logs:DeleteLogStream arn:<Partition>:logs:<Region>:<AccountId>:log-group:<AppsOutput>:log-stream:*
      logs:DeleteLogStream arn:<Partition>:logs:<Region>:<AccountId>:log-group:<ImageBuildOutput>:log-stream:*
      logs:DescribeLogStreams <AppsOutput>
    deployments:resume
      states:SendTaskSuccess arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-deployment
    apps:read
      ecs:DescribeGatewayRoute *
      ecs:DescribeServices arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      ecs:ListGatewayRoutes *
    apps:identify
      ecs:DescribeTasks arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
    apps:watch
      ecs:DescribeServiceDeployments arn:<Partition>:ecs:<Region>:<AccountId>:service-deployment/<AppsCluster>/app-*/*
      ecs:DescribeServiceRevisions arn:<Partition>:ecs:<Region>:<AccountId>:service-revision/<AppsCluster>/app-*/*
      ecs:ListServiceDeployments arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
    apps:deploy
      ecs:CreateService arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      ecs:DeleteService arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      ecs:RegisterTaskDefinition *
      ecs:UpdateService arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      iam:PassRole <AppsExecutionRole> if StringEquals iam:PassedToService ecs-tasks.amazonaws.com
      iam:PassRole <AppsTaskRole> if StringEquals iam:PassedToService ecs-tasks.amazonaws.com
    apps:exits
      ecs:DescribeTasks arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
      ecs:ListTasks * if ArnEquals ecs:cluster <AppsCluster>
    apps:run
      ecs:DescribeTasks arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
      ecs:RunTask arn:<Partition>:ecs:<Region>:<AccountId>:task-definition/slipway-release-*:* if ArnEquals ecs:cluster <AppsCluster>
      ecs:StopTask arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
    releases:stop
      ecs:ListTasks * if ArnEquals ecs:cluster <AppsCluster>
      ecs:StopTask arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
    apps:remove
      ecs:DeleteService arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
    task-definitions:remove
      ecs:DeleteTaskDefinitions arn:<Partition>:ecs:<Region>:<AccountId>:task-definition/slipway-*:*
      ecs:DeregisterTaskDefinition *
      ecs:ListTaskDefinitions *
    apps:switch
      ecs:ContinueServiceDeployment arn:<Partition>:ecs:<Region>:<AccountId>:service-deployment/<AppsCluster>/app-*/*
      ecs:DescribeServices arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      ecs:DescribeTasks arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
      ecs:ListTasks * if ArnEquals ecs:cluster <AppsCluster>
      ecs:StopServiceDeployment arn:<Partition>:ecs:<Region>:<AccountId>:service-deployment/<AppsCluster>/app-*/*
    build-values:read
      kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      s3:GetObject <DataArtifacts>/values/*
      s3:ListBucket <DataArtifacts>
    logs:read
      logs:GetLogEvents arn:<Partition>:logs:<Region>:<AccountId>:log-group:<AppsOutput>:log-stream:*
      logs:GetLogEvents arn:<Partition>:logs:<Region>:<AccountId>:log-group:<ImageBuildOutput>:log-stream:*
    app-output:read
      logs:FilterLogEvents <AppsOutput>
    app-metrics:read
      cloudwatch:GetMetricData *
      ecs:DescribeServiceRevisions arn:<Partition>:ecs:<Region>:<AccountId>:service-revision/<AppsCluster>/app-*/*
      ecs:DescribeServices arn:<Partition>:ecs:<Region>:<AccountId>:service/<AppsCluster>/app-*
      ecs:DescribeTasks arn:<Partition>:ecs:<Region>:<AccountId>:task/<AppsCluster>/* if ArnEquals ecs:cluster <AppsCluster>
      ecs:ListTasks * if ArnEquals ecs:cluster <AppsCluster>
    identity:prove
    console-sessions:renew
      dynamodb:UpdateItem <DataTable>
      kms:Decrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:Encrypt <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptFrom <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
      kms:ReEncryptTo <DataKey> if StringEquals kms:ViaService dynamodb.<Region>.amazonaws.com
    service:call
    console:locate
    uploads:locate
    domains:route
    files:sign
      sts:AssumeRole <SignersFiles>
    files:look
      s3:GetObject <DataFiles>/*
      s3:ListBucket <DataFiles>
    files:remove
      s3:DeleteObject <DataFiles>/*
    databases:run
      kms:Decrypt <DataKey> if StringEquals kms:ViaService secretsmanager.<Region>.amazonaws.com
      rds-data:BeginTransaction arn:<Partition>:rds:<Region>:<AccountId>:cluster:<DatabaseCluster>
      rds-data:CommitTransaction arn:<Partition>:rds:<Region>:<AccountId>:cluster:<DatabaseCluster>
      rds-data:ExecuteStatement arn:<Partition>:rds:<Region>:<AccountId>:cluster:<DatabaseCluster>
      rds-data:RollbackTransaction arn:<Partition>:rds:<Region>:<AccountId>:cluster:<DatabaseCluster>
      secretsmanager:GetSecretValue <DatabaseCluster>
    image-builds:grant
      codebuild:BatchGetBuilds <ImageBuildProject>
      ecr:CreateRepository arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      ecr:PutLifecyclePolicy arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      kms:CreateGrant <DataKey> if StringEquals kms:ViaService ecr.<Region>.amazonaws.com
      kms:DescribeKey <DataKey> if StringEquals kms:ViaService ecr.<Region>.amazonaws.com
      kms:RetireGrant <DataKey> if StringEquals kms:ViaService ecr.<Region>.amazonaws.com
      sts:AssumeRole <ImageBuildSessions>
    images:expire
      ecr:BatchDeleteImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      ecr:DescribeImages arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*"
  `);
});

/** Actions that do not support resource-level permissions, or whose resource does not exist yet. */
const everywhere: Record<string, string> = {
  "cloudwatch:GetMetricData": "metrics have no resource",
  "ecr:GetAuthorizationToken": "the ECR token has no resource",
  "ecs:DeregisterTaskDefinition": "deregistering has no resource",
  "ecs:DescribeGatewayRoute": "routes get their ids from ECS; what they tell is public",
  "ecs:ListGatewayRoutes": "listing has no resource",
  "ecs:ListTaskDefinitions": "listing has no resource",
  "ecs:ListTasks": "no resource on Fargate; held to the cluster by a condition",
  "ecs:RegisterTaskDefinition": "the task definition does not exist yet",
  "logs:CreateLogDelivery": "log deliveries have no resource",
  "logs:DeleteLogDelivery": "log deliveries have no resource",
  "logs:DescribeLogGroups": "log deliveries have no resource",
  "logs:DescribeResourcePolicies": "log deliveries have no resource",
  "logs:GetLogDelivery": "log deliveries have no resource",
  "logs:ListLogDeliveries": "log deliveries have no resource",
  "logs:PutResourcePolicy": "log deliveries have no resource",
  "logs:UpdateLogDelivery": "log deliveries have no resource",
  "xray:GetSamplingRules": "X-Ray has no resource",
  "xray:GetSamplingTargets": "X-Ray has no resource",
  "xray:PutTelemetryRecords": "X-Ray has no resource",
  "xray:PutTraceSegments": "X-Ray has no resource",
};

it("only listed actions are allowed on every resource, and each listed one is needed", () => {
  const found = ofType("AWS::IAM::Role").flatMap(([id]) => grantsOf(id).filter(({ resource }) => resource === "*"));
  expect([...new Set(found.map(({ action }) => action))].sort()).toEqual(Object.keys(everywhere).sort());
  const tasks = found.filter(({ action }) => action === "ecs:ListTasks");
  expect(tasks.every(({ condition }) => condition.includes("ecs:cluster"))).toBe(true);
});

it("no role may use an action with a wildcard", () => {
  const grants = ofType("AWS::IAM::Role").flatMap(([id]) => grantsOf(id));
  expect(grants.length).toBeGreaterThan(100);
  expect(grants.filter(({ action }) => action.includes("*"))).toEqual([]);
});

it("the apps' two roles are passed to ECS tasks only, and nothing else is passed at all", () => {
  const passes = functions().flatMap(({ roleId }) =>
    grantsOf(roleId).filter(({ action }) => action === "iam:PassRole"),
  );
  expect(passes.length).toBeGreaterThan(0);
  for (const { condition } of passes)
    expect(condition).toBe("StringEquals iam:PassedToService ecs-tasks.amazonaws.com");
  expect([...new Set(passes.map(({ resource }) => resource.replace(/[0-9A-F]{8}>/, ">")))].sort()).toEqual([
    "<AppsExecutionRole>",
    "<AppsTaskRole>",
  ]);
});

it("the role of every app allows nothing", () => {
  const [id, role] = ofType("AWS::IAM::Role").find(([name]) => name.startsWith("AppsTaskRole")) ?? [];
  expect(role?.Properties.Policies).toBeUndefined();
  expect(role?.Properties.ManagedPolicyArns).toBeUndefined();
  expect(ofType("AWS::IAM::Policy").filter(([, policy]) => JSON.stringify(policy).includes(String(id)))).toEqual([]);
});

const roleNamed = (prefix: string) =>
  ofType("AWS::IAM::Role").find(([name]) => name.startsWith(prefix)) ?? ["", undefined];

it("the image build, which runs untrusted code, may only write its log and invoke one function", () => {
  const [id, role] = roleNamed("ImageBuildRole");
  expect(lines(grantsOf(id)).join("\n")).toMatchInlineSnapshot(`
    "lambda:InvokeFunction arn:<Partition>:lambda:<Region>:<AccountId>:function:<StackName>-grant-build-access
    logs:CreateLogStream <ImageBuildOutput>
    logs:PutLogEvents <ImageBuildOutput>"
  `);
  expect(role?.Properties.ManagedPolicyArns ?? []).toEqual([]);
  // The default key of CodeBuild, because the role may not use the stack's key.
  expect(ofType("AWS::CodeBuild::Project")[0]?.[1].Properties.EncryptionKey).toBe("alias/aws/s3");
  const naming = Object.entries(resources()).filter(([, resource]) => JSON.stringify(resource).includes(id));
  expect(naming.map(([, { Type }]) => Type)).toEqual(["AWS::CodeBuild::Project"]);
  const asked = functions().filter(({ id: name }) => name in imageBuildServices);
  const project = ofType("AWS::CodeBuild::Project")[0]?.[1].Properties;
  const variables = project.Environment.EnvironmentVariables.map((one: { Name: string; Value: unknown }) => [
    one.Name,
    written(one.Value),
  ]);
  expect(variables).toEqual([
    ["ACCESS_FUNCTION", `<StackName>-${asked[0]?.id}`],
    ["BASE_REGISTRY", "<AccountId>.dkr.ecr.<Region>.<URLSuffix>/slipway-base"],
  ]);
  expect(asked).toHaveLength(1);
});

it("an image build reaches its files only with a session that grant-build-access opens", () => {
  const [id] = roleNamed("ImageBuildSessions");
  expect(lines(grantsOf(id)).join("\n")).toMatchInlineSnapshot(`
    "ecr:BatchCheckLayerAvailability arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway-base/*
    ecr:BatchCheckLayerAvailability arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:BatchGetImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway-base/*
    ecr:BatchGetImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:BatchImportUpstreamImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway-base/*
    ecr:CompleteLayerUpload arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:GetAuthorizationToken *
    ecr:GetDownloadUrlForLayer arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway-base/*
    ecr:GetDownloadUrlForLayer arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:InitiateLayerUpload arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:PutImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    ecr:UploadLayerPart arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
    kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
    s3:GetObject <DataArchives>/archives/*
    s3:GetObject <DataArtifacts>/builds/*
    s3:GetObjectVersion <DataArchives>/archives/*
    s3:GetObjectVersion <DataArtifacts>/builds/*"
  `);
  const openers = functions().filter(({ roleId }) =>
    grantsOf(roleId).some(({ action, resource }) => action === "sts:AssumeRole" && resource === `<${id}>`),
  );
  expect(openers.map((one) => one.id)).toEqual(["grant-build-access"]);
  const allowed = grantsOf(id).map(({ action }) => action);
  expect(
    [...imageBuildActions.objects, ...imageBuildActions.repository].filter((action) => !allowed.includes(action)),
  ).toEqual([]);
});

it("signer roles can be assumed by functions only", () => {
  const signers = ofType("AWS::IAM::Role").filter(([name]) => /^(Signers|ImageBuildSessions)/.test(name));
  expect(signers).toHaveLength(3);
  for (const [, { Properties }] of signers) {
    const [{ Condition }] = Properties.AssumeRolePolicyDocument.Statement;
    expect(written(Condition.ArnLike["aws:PrincipalArn"])).toMatch(/:role\/<StackName>\/functions\/\*$/);
  }
});

/** Services that send aws:SourceArn when they assume a role; Lambda and the ECS gateway do not document it. */
const sourceOf: Record<string, RegExp> = {
  "ecs-tasks.amazonaws.com": /^arn:<Partition>:ecs:<Region>:<AccountId>:\*/,
  "states.amazonaws.com": /^arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-(deployment|removal)$/,
  "codebuild.amazonaws.com": /^arn:<Partition>:codebuild:<Region>:<AccountId>:project\/\*$/,
};

it("no other account can make ECS, Step Functions or CodeBuild use our roles", () => {
  const trusts = ofType("AWS::IAM::Role").flatMap(([id, { Properties }]) =>
    Properties.AssumeRolePolicyDocument.Statement.map(
      (one: { Principal: { Service?: unknown }; Condition?: Record<string, Record<string, unknown>> }) => ({
        id,
        service: one.Principal.Service === undefined ? "" : written(one.Principal.Service),
        condition: one.Condition,
      }),
    ),
  );
  const bound = trusts.filter(({ service }) => service in sourceOf);
  expect(bound.map(({ id }) => id.replace(/[0-9A-F]{8}$/, "")).sort()).toEqual([
    "AppsExecutionRole",
    "AppsTaskRole",
    "DeploymentRole",
    "ImageBuildRole",
    "RemovalsRole",
  ]);
  for (const { id, service, condition } of bound) {
    expect([id, written(condition?.StringEquals?.["aws:SourceAccount"])]).toEqual([id, "<AccountId>"]);
    expect([id, written(condition?.ArnLike?.["aws:SourceArn"])]).toEqual([
      id,
      expect.stringMatching(sourceOf[service] ?? /never/),
    ]);
  }
});

it("each role can be assumed by the service that works with it, those that sign only by functions, and no other", () => {
  const own = new Set(functions().map(({ roleId }) => roleId));
  for (const id of own) expect([id, trustOf(id)]).toEqual([id, ["lambda.amazonaws.com"]]);
  const others = ofType("AWS::IAM::Role").filter(([id]) => !own.has(id));
  const trusts = others.map(([id]) => `${id.replace(/[0-9A-F]{8}$/, "")}: ${trustOf(id).join("; ")}`);
  expect(trusts.sort().join("\n")).toMatchInlineSnapshot(`
    "AppsExecutionRole: ecs-tasks.amazonaws.com if ArnLike aws:SourceArn arn:<Partition>:ecs:<Region>:<AccountId>:* and StringEquals aws:SourceAccount <AccountId>
    AppsGatewayRole: ecs.amazonaws.com
    AppsTaskRole: ecs-tasks.amazonaws.com if ArnLike aws:SourceArn arn:<Partition>:ecs:<Region>:<AccountId>:* and StringEquals aws:SourceAccount <AccountId>
    DeploymentRole: states.amazonaws.com if ArnLike aws:SourceArn arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-deployment and StringEquals aws:SourceAccount <AccountId>
    ImageBuildRole: codebuild.amazonaws.com if ArnLike aws:SourceArn arn:<Partition>:codebuild:<Region>:<AccountId>:project/* and StringEquals aws:SourceAccount <AccountId>
    ImageBuildSessions: arn:<Partition>:iam::<AccountId>:root if ArnLike aws:PrincipalArn arn:<Partition>:iam::<AccountId>:role/<StackName>/functions/*
    NetworkVpcRefusedIAMRole: vpc-flow-logs.amazonaws.com
    RemovalsRole: states.amazonaws.com if ArnLike aws:SourceArn arn:<Partition>:states:<Region>:<AccountId>:stateMachine:Slipway-removal and StringEquals aws:SourceAccount <AccountId>
    ServiceInvoker: apigateway.amazonaws.com
    SignersArchives: arn:<Partition>:iam::<AccountId>:root if ArnLike aws:PrincipalArn arn:<Partition>:iam::<AccountId>:role/<StackName>/functions/*
    SignersFiles: arn:<Partition>:iam::<AccountId>:root if ArnLike aws:PrincipalArn arn:<Partition>:iam::<AccountId>:role/<StackName>/functions/*"
  `);
});

it("the permissions of the roles of ECS, Step Functions and the signers", () => {
  const roles = ["AppsExecutionRole", "DeploymentRole", "RemovalsRole", "SignersArchives", "SignersFiles"];
  const projection = roles.map((prefix) => [prefix, ...lines(grantsOf(roleNamed(prefix)[0]))].join("\n  "));
  expect(projection.join("\n")).toMatchInlineSnapshot(`
    "AppsExecutionRole
      ecr:BatchCheckLayerAvailability arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      ecr:BatchGetImage arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      ecr:GetAuthorizationToken *
      ecr:GetDownloadUrlForLayer arn:<Partition>:ecr:<Region>:<AccountId>:repository/slipway/*
      logs:CreateLogStream <AppsOutput>
      logs:PutLogEvents <AppsOutput>
    DeploymentRole
      codebuild:BatchGetBuilds <ImageBuildProject>
      codebuild:StartBuild <ImageBuildProject>
      codebuild:StopBuild <ImageBuildProject>
      events:DescribeRule arn:<Partition>:events:<Region>:<AccountId>:rule/StepFunctionsGetEventForCodeBuildStartBuildRule
      events:PutRule arn:<Partition>:events:<Region>:<AccountId>:rule/StepFunctionsGetEventForCodeBuildStartBuildRule
      events:PutTargets arn:<Partition>:events:<Region>:<AccountId>:rule/StepFunctionsGetEventForCodeBuildStartBuildRule
      lambda:InvokeFunction <Functionsanalyze>
      lambda:InvokeFunction <Functionsawaitupload>
      lambda:InvokeFunction <Functionscheckhealth>
      lambda:InvokeFunction <Functionscopyarchive>
      lambda:InvokeFunction <Functionsdeploy>
      lambda:InvokeFunction <Functionsfailbuild>
      lambda:InvokeFunction <Functionsfinish>
      lambda:InvokeFunction <Functionsrelease>
      lambda:InvokeFunction <Functionsrollback>
      logs:CreateLogDelivery *
      logs:DeleteLogDelivery *
      logs:DescribeLogGroups *
      logs:DescribeResourcePolicies *
      logs:GetLogDelivery *
      logs:ListLogDeliveries *
      logs:PutResourcePolicy *
      logs:UpdateLogDelivery *
      xray:GetSamplingRules *
      xray:GetSamplingTargets *
      xray:PutTelemetryRecords *
      xray:PutTraceSegments *
    RemovalsRole
      lambda:InvokeFunction <Functionsremove>
      logs:CreateLogDelivery *
      logs:DeleteLogDelivery *
      logs:DescribeLogGroups *
      logs:DescribeResourcePolicies *
      logs:GetLogDelivery *
      logs:ListLogDeliveries *
      logs:PutResourcePolicy *
      logs:UpdateLogDelivery *
      xray:GetSamplingRules *
      xray:GetSamplingTargets *
      xray:PutTelemetryRecords *
      xray:PutTraceSegments *
    SignersArchives
      kms:Decrypt <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      kms:GenerateDataKey <DataKey> if StringEquals kms:ViaService s3.<Region>.amazonaws.com
      s3:PutObject <DataArchives>/archives/*
    SignersFiles
      s3:GetObject <DataFiles>/*
      s3:GetObjectVersion <DataFiles>/*
      s3:ListBucket <DataFiles>
      s3:PutObject <DataFiles>/*"
  `);
});

const mayCall = (action: string) =>
  functions()
    .filter(({ roleId }) => grantsOf(roleId).some((grant) => grant.action === action))
    .map(({ id }) => id)
    .sort();

it("a step that starts a deployment cannot continue or stop one, and three routes look at tasks", () => {
  const switching = ["check-health", "execution-ended", "reconcile-locks", "roll-back"];
  expect(mayCall("ecs:ContinueServiceDeployment")).toEqual(switching);
  expect(mayCall("ecs:StopServiceDeployment")).toEqual(switching);
  expect(mayCall("ecs:DescribeTasks")).toEqual(
    ["create-session", "get-build", "get-metrics", "release", ...switching].sort(),
  );
  expect(mayCall("ecs:RunTask")).toEqual(["release"]);
  expect(mayCall("ecs:StopTask")).toEqual(["execution-ended", "fail-build", "reconcile-locks", "release"]);
  expect(mayCall("states:SendTaskFailure")).toEqual([]);
});

/** Whether a part of a policy's resource, which is not only a wildcard, covers this name. */
function covers(resource: string, name: string): boolean {
  return [...resource.matchAll(/(?<=[/:])[^*]/g)].some(({ index }) => {
    const text = resource.slice(index).replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
    return new RegExp(`^${text.replaceAll("*", ".*")}$`).test(name);
  });
}

const projectId = `prj_${"1".repeat(26)}`;
const buildId = `bld_${"2".repeat(26)}`;
const service = serviceName(projectId);
const archive = archiveKey({ organizationId: `org_${"3".repeat(26)}`, projectId, id: buildId });
const values = buildValuesKey(projectId, buildId);

/** What the code calls with names that it makes itself. */
const namedCalls: [action: string, name: string][] = [
  ["ecs:CreateService", service],
  ["ecs:UpdateService", service],
  ["ecs:DeleteService", service],
  ["ecs:DescribeServices", service],
  ["ecs:ListServiceDeployments", service],
  ["ecs:DescribeServiceDeployments", `${service}/r9i43YFjvgF`],
  ["ecs:ContinueServiceDeployment", `${service}/r9i43YFjvgF`],
  ["ecs:StopServiceDeployment", `${service}/r9i43YFjvgF`],
  ["ecs:DescribeServiceRevisions", `${service}/4980306466373577095`],
  ["ecs:RunTask", `${familyOf(buildId, "release")}:1`],
  ["ecs:DeleteTaskDefinitions", `${familyOf(buildId, "release")}:1`],
  ["ecs:DeleteTaskDefinitions", `${familyOf(buildId)}:1`],
  ["logs:GetLogEvents", `log-stream:${taskLog({ projectId, buildId, taskId: "4" })}`],
  ["s3:GetObjectVersion", archive],
  ["s3:PutObject", archive],
  ["s3:DeleteObjectVersion", archive],
  ["s3:PutObject", `builds/${buildId}/recipe.json`],
  ["s3:PutObject", values],
  ["s3:GetObject", values],
  ["s3:DeleteObjectVersion", values],
  ["ecr:CreateRepository", repositoryNameOf("arn:aws:ecr:us-east-1:123456789012:repository/slipway", projectId)],
  ["states:StopExecution", `Slipway-deployment:${buildId}`],
];

it("the policies cover the names that the code makes", () => {
  const own = functions().flatMap(({ roleId }) => grantsOf(roleId));
  const refused = namedCalls.filter(
    ([called, name]) => !own.some(({ action, resource }) => action === called && covers(resource, name)),
  );
  expect(refused).toEqual([]);
});
