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
/** Reads which version serves a project, and its address. */
export const appsRead: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:DescribeServices"], resources: services(r), because: perProject },
  {
    actions: ["ecs:DescribeGatewayRoute", "ecs:ListGatewayRoutes"],
    resources: ["*"],
    because:
      "Routes get their ids from ECS, and listing has no resource; what they tell is public: the apps' addresses.",
  },
];
/** Which project's app a task is. */
export const appsIdentify: (r: Resources) => Allowance[] = (r) => [describeTasks(r)];
/** Whether a deployment runs. */
export const appsWatch: (r: Resources) => Allowance[] = (r) => [
  { actions: ["ecs:ListServiceDeployments"], resources: services(r), because: perProject },
];
/** The app's task definition and service, under the two roles made for apps. */
export const appsDeploy: (r: Resources) => Allowance[] = (r) => [
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
/** Watching a deployment, and saying go on or go back. */
export const appsSwitch: (r: Resources) => Allowance[] = (r) => [
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
/** Output of image builds and apps. */
export const logStreams: (r: Resources) => Allowance[] = (r) => [
  {
    actions: ["logs:GetLogEvents"],
    resources: [streamsOf(r, r.apps.output.logGroupName), streamsOf(r, r.imageBuild.output.logGroupName)],
    because: "Streams are named after builds and tasks.",
  },
];
