import { AwsError, epochSeconds, type RawService } from "../../../local/aws/service.ts";
import type { Answers } from "./steps.ts";

export const definitionOf = (buildId: string, purpose = "") =>
  `arn:aws:ecs:us-east-1:000000000000:task-definition/slipway-${purpose}${buildId}:1`;
const cluster = "arn:aws:ecs:us-east-1:000000000000";
const taskArn = (id: string) => `${cluster}:task/apps/${id}`;

interface Service {
  status: "ACTIVE" | "DRAINING" | "INACTIVE";
  taskDefinition: string;
  desiredCount: number;
  deployments?: { status: string; taskDefinition: string }[];
}
export interface Deployment {
  arn: string;
  status: string;
  /** Of its target revision; absent while ECS does not describe that. */
  taskDefinition?: string;
  createdAt: Date;
  stage?: string;
  reason?: string;
  running: number;
  hook?: { id: string; status?: string; expiresAt?: Date };
  isListed: boolean;
  isDescribed: boolean;
}
interface Task {
  id: string;
  buildId: string;
  purpose?: "release-";
  status: "PENDING" | "RUNNING" | "STOPPED";
  startedAt?: Date;
  stoppedAt?: Date;
  exitCode?: number;
  stoppedReason?: string;
  containerReason?: string;
}

/** Revisions never change, so that a function may remember one between two tests. */
let numbered = 0;

/**
 * ECS and CloudWatch Logs as AWS documents them, without any time of their own: a deployment stays as it is until the
 * test changes it, and `answers` can be replaced call by call.
 */
export function chosenEcs() {
  const ecs = {
    service: undefined as Service | undefined,
    /** Newest last; ECS documents no order of its lists. */
    deployments: [] as Deployment[],
    tasks: [] as Task[],
    events: [] as { createdAt: Date; message: string }[],
    address: undefined as string | undefined,
    /** What apps wrote, by stream. */
    streams: {} as Record<string, string[]>,
    answers: {} as Answers,

    serves(buildId: string, instances = 1): void {
      ecs.service = { status: "ACTIVE", taskDefinition: definitionOf(buildId), desiredCount: instances };
    },
    deploy(taskDefinition: string | undefined, change: Partial<Deployment> = {}): Deployment {
      numbered += 1;
      const deployment: Deployment = {
        arn: `${cluster}:service-deployment/apps/app/${numbered}`,
        status: "IN_PROGRESS",
        ...(taskDefinition !== undefined && { taskDefinition }),
        createdAt: new Date(),
        running: 1,
        isListed: true,
        isDescribed: true,
        ...change,
      };
      ecs.deployments.push(deployment);
      return deployment;
    },
  };
  const revisionOf = ({ arn }: Deployment) => arn.replace("service-deployment", "service-revision");
  const found = (arn: string) => ecs.deployments.find((one) => one.arn === arn);
  const describedTask = (task: Task) => ({
    taskArn: taskArn(task.id),
    lastStatus: task.status,
    ...(task.startedAt && { startedAt: epochSeconds(task.startedAt) }),
    ...(task.stoppedAt && { stoppedAt: epochSeconds(task.stoppedAt) }),
    stoppedReason: task.stoppedReason,
    containers: [{ name: "app", exitCode: task.exitCode, reason: task.containerReason }],
  });

  ecs.answers = {
    RegisterTaskDefinition: ({ family }) => ({
      taskDefinition: { taskDefinitionArn: definitionOf(family.replace("slipway-", "")) },
    }),
    DescribeServices: () => {
      if (!ecs.service) return { services: [], failures: [{ reason: "MISSING" }] };
      const events = ecs.events.map(({ createdAt, message }) => ({ createdAt: epochSeconds(createdAt), message }));
      return { services: [{ ...ecs.service, events }], failures: [] };
    },
    UpdateService: ({ taskDefinition, desiredCount }) => {
      if (!ecs.service) throw new AwsError("ServiceNotFoundException", "Service not found.");
      if (ecs.service.status !== "ACTIVE") throw new AwsError("ServiceNotActiveException", "Service was not ACTIVE.");
      ecs.service.desiredCount = desiredCount;
      if (taskDefinition !== undefined) {
        ecs.service.taskDefinition = taskDefinition;
        ecs.deploy(taskDefinition);
      }
      return {};
    },
    CreateService: ({ taskDefinition, desiredCount }) => {
      if (ecs.service?.status === "DRAINING")
        throw new AwsError("InvalidParameterException", "Unable to Start a service that is still Draining.");
      ecs.service = { status: "ACTIVE", taskDefinition, desiredCount };
      ecs.deploy(taskDefinition);
      return {};
    },
    DeleteService: () => {
      if (!ecs.service) throw new AwsError("ServiceNotFoundException", "Service not found.");
      ecs.service.status = "INACTIVE";
      return {};
    },
    ListServiceDeployments: ({ status, createdAt }) => ({
      serviceDeployments: ecs.deployments
        .filter((one) => one.isListed && (status === undefined || status.includes(one.status)))
        .filter((one) => createdAt === undefined || epochSeconds(one.createdAt) > createdAt.after)
        .map((one) => ({
          serviceDeploymentArn: one.arn,
          status: one.status,
          createdAt: epochSeconds(one.createdAt),
          targetServiceRevisionArn: revisionOf(one),
        })),
    }),
    DescribeServiceRevisions: ({ serviceRevisionArns }) => ({
      serviceRevisions: ecs.deployments
        .filter((one) => one.taskDefinition !== undefined && serviceRevisionArns.includes(revisionOf(one)))
        .map((one) => ({ serviceRevisionArn: revisionOf(one), taskDefinition: one.taskDefinition })),
    }),
    DescribeServiceDeployments: ({ serviceDeploymentArns: [arn] }) => {
      const one = found(arn);
      if (!one?.isDescribed) return { serviceDeployments: [], failures: [{ arn, reason: "MISSING" }] };
      const { hook } = one;
      const described = {
        serviceDeploymentArn: one.arn,
        status: one.status,
        statusReason: one.reason,
        lifecycleStage: one.stage,
        targetServiceRevision: { arn: revisionOf(one), runningTaskCount: one.running },
        lifecycleHookDetails: hook && [
          {
            hookId: hook.id,
            status: hook.status ?? "AWAITING_ACTION",
            ...(hook.expiresAt && { expiresAt: epochSeconds(hook.expiresAt) }),
          },
        ],
      };
      return { serviceDeployments: [described] };
    },
    ContinueServiceDeployment: () => ({}),
    StopServiceDeployment: () => ({}),
    ListTasks: ({ family, desiredStatus = "RUNNING" }) => {
      if (!["RUNNING", "STOPPED"].includes(desiredStatus))
        throw new AwsError("InvalidParameterException", "desiredStatus is invalid.");
      const taskArns = ecs.tasks
        .filter(({ buildId, purpose = "" }) => family === `slipway-${purpose}${buildId}`)
        .filter(({ status }) => (status === "STOPPED") === (desiredStatus === "STOPPED"))
        .map(({ id }) => taskArn(id));
      return { taskArns };
    },
    DescribeTasks: ({ tasks }) => ({
      tasks: ecs.tasks
        .filter(({ id }) => tasks.some((one: string) => one === id || one === taskArn(id)))
        .map(describedTask),
    }),
    RunTask: ({ clientToken }) => {
      const running = ecs.tasks.find(({ id }) => id === `task-${clientToken}`);
      const task: Task = running ?? {
        id: `task-${clientToken}`,
        buildId: clientToken,
        purpose: "release-",
        status: "PENDING",
      };
      if (!running) ecs.tasks.push(task);
      return { tasks: [describedTask(task)], failures: [] };
    },
    StopTask: () => ({}),
    ListGatewayRoutes: () => ({ gatewayRoutes: ecs.address === undefined ? [] : [{ gatewayRouteArn: "route" }] }),
    DescribeGatewayRoute: () => ({ gatewayRoute: { serviceUrl: ecs.address } }),
    GetLogEvents: ({ logGroupName, logStreamName, limit }) => {
      const lines = logGroupName === "apps" ? ecs.streams[logStreamName] : undefined;
      if (!lines) throw new AwsError("ResourceNotFoundException", "The specified log stream does not exist.");
      return { events: lines.slice(-limit).map((message) => ({ timestamp: 0, message })), nextForwardToken: "end" };
    },
  };
  return ecs;
}
export type ChosenEcs = ReturnType<typeof chosenEcs>;

/** What the app answers to the new version's probe and at its public address, with the paths that were asked for. */
export interface ChosenApp {
  new: number;
  public: number;
  asked: [version: "new" | "public", path: string][];
  /** The values of the variables that builds were made with, by build. */
  values: Record<string, string[]>;
}

/** The app behind the gateway, and the kept values of its variables in S3. */
export const appAndValues =
  (app: () => ChosenApp): RawService =>
  async ({ path, headers }) => {
    if (path.startsWith("/artifacts/")) {
      const [, projectId, buildId = ""] = /^\/artifacts\/values\/(\w+)\/(\w+)\.json$/.exec(path) ?? [];
      const values = projectId?.startsWith("prj_") ? app().values[buildId] : undefined;
      if (values) return { status: 200, body: JSON.stringify(values) };
      return {
        status: 404,
        headers: { "content-type": "application/xml" },
        body: "<Error><Code>NoSuchKey</Code></Error>",
      };
    }
    const version = headers["x-slipway-probe"] === "new-version" ? "new" : "public";
    app().asked.push([version, path]);
    return { status: app()[version] };
  };
