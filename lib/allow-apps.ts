import { ArnFormat, Stack } from "aws-cdk-lib";
import type { Allowance } from "./allow.ts";
import type { Resources } from "./resources.ts";

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
const listTasks = (r: Resources): Allowance => ({
  actions: ["ecs:ListTasks"],
  resources: ["*"],
  conditions: inCluster(r),
  because: "Listing tasks has no resource on Fargate; the condition limits it to this cluster.",
});
const describeRevisions = (r: Resources): Allowance => ({
  actions: ["ecs:DescribeServiceRevisions"],
  resources: [ecsArn(r, "service-revision", "app-*/*")],
  because: perProject,
});
/** Reads which instances of an app ended. */
export const appsExits: (r: Resources) => Allowance[] = (r) => [listTasks(r), describeTasks(r)];
/** Reads which revision serves a project, and the address of its app. */
export const appsRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:DescribeServices"], resources: services(r), because: perProject },
  {
    actions: ["ecs:DescribeGatewayRoute", "ecs:ListGatewayRoutes"],
    resources: ["*"],
    because:
      "ECS chooses the ids of routes, and listing has no resource. The routes contain only public addresses of apps.",
  },
];
/** Finds the project of a task. */
export const appsIdentify: (r: Resources) => Allowance[] = (r) => [describeTasks(r)];
/** Reads what the deployments of a service do, and what their revisions run. */
export const appsWatch: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:ListServiceDeployments"], resources: services(r), because: perProject },
  { actions: ["ecs:DescribeServiceDeployments"], resources: serviceDeployments(r), because: perProject },
  describeRevisions(r),
];
/** Creates and updates the app's task definition and service, with the two roles for apps. */
export const appsDeploy: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:RegisterTaskDefinition"],
    resources: ["*"],
    because: "Registering has no resource: the task definition does not exist yet.",
  },
  {
    actions: ["ecs:CreateService", "ecs:DeleteService", "ecs:UpdateService"],
    resources: services(r),
    because: perProject,
  },
  {
    actions: ["iam:PassRole"],
    resources: [r.apps.taskRole.roleArn, r.apps.executionRole.roleArn],
    conditions: { StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" } },
  },
];
const taskDefinitions = (r: Resources, family: string) =>
  Stack.of(r.apps).formatArn({ service: "ecs", resource: "task-definition", resourceName: `${family}:*` });
/** Runs release commands, each in a task of its own. */
export const appsRun: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:RunTask"],
    resources: [taskDefinitions(r, "slipway-release-*")],
    conditions: inCluster(r),
    because: "Task definitions of release commands are named after builds.",
  },
  {
    actions: ["ecs:DescribeTasks", "ecs:StopTask"],
    resources: [ecsArn(r, "task", "*")],
    conditions: inCluster(r),
    because: perProject,
  },
];
/** Stops the task of a release command whose deployment is over. */
export const releasesStop: (r: Resources) => Allowance[] = (r) => [
  listTasks(r),
  {
    actions: ["ecs:StopTask"],
    resources: [ecsArn(r, "task", "*")],
    conditions: inCluster(r),
    because: perProject,
  },
];
/** Deletes the app's service. */
export const appsRemove: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:DeleteService"], resources: services(r), because: perProject },
];
/** Deregisters and deletes the task definitions of builds. */
export const taskDefinitionsRemove: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:DeregisterTaskDefinition", "ecs:ListTaskDefinitions"],
    resources: ["*"],
    because: "Listing and deregistering have no resource.",
  },
  {
    actions: ["ecs:DeleteTaskDefinitions"],
    resources: [taskDefinitions(r, "slipway-*")],
    because: "Task definitions are named after builds.",
  },
];
/** Watches a deployment, and continues it or rolls it back. */
export const appsSwitch: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["ecs:DescribeServices"],
    resources: services(r),
    because: perProject,
  },
  {
    actions: ["ecs:ContinueServiceDeployment", "ecs:StopServiceDeployment"],
    resources: serviceDeployments(r),
    because: perProject,
  },
  listTasks(r),
  describeTasks(r),
];

/** The group's `logGroupArn` is not used because it already ends in `:*`. */
function streamsOf(r: Resources, group: string): string {
  const resourceName = `${group}:log-stream:*`;
  return Stack.of(r.apps).formatArn({
    service: "logs",
    resource: "log-group",
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
/** Reads the output of apps, over all streams of a project. */
export const appOutput: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["logs:FilterLogEvents"],
    resources: [r.apps.output.logGroupArn],
    because: "Streams are named after projects.",
  },
];
/** Deletes the output of a project's builds and apps. */
export const outputRemove: (r: Resources) => Allowance[] = (r) => [
  { actions: ["logs:DescribeLogStreams"], resources: [r.apps.output.logGroupArn] },
  {
    actions: ["logs:DeleteLogStream"],
    resources: [streamsOf(r, r.apps.output.logGroupName), streamsOf(r, r.imageBuild.output.logGroupName)],
    because: "Streams are named after builds and tasks.",
  },
];
/** Reads what load balancers and ECS have measured of an app, and which of its instances ended. */
export const appMetrics: (r: Resources) => Allowance[] = (r) => [
  { actions: ["cloudwatch:GetMetricData"], resources: ["*"], because: "Metrics have no resource." },
  { actions: ["ecs:DescribeServices"], resources: services(r), because: perProject },
  describeRevisions(r),
  listTasks(r),
  describeTasks(r),
];
/** Reads the output of image builds and apps. */
export const logStreams: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["logs:GetLogEvents"],
    resources: [streamsOf(r, r.apps.output.logGroupName), streamsOf(r, r.imageBuild.output.logGroupName)],
    because: "Streams are named after builds and tasks.",
  },
];
