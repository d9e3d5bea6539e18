import {
  ContinueServiceDeploymentCommand,
  CreateServiceCommand,
  type CreateServiceCommandInput,
  DeleteServiceCommand,
  DescribeGatewayRouteCommand,
  DescribeServicesCommand,
  DescribeTasksCommand,
  ECSClient,
  ListGatewayRoutesCommand,
  ListTasksCommand,
  RegisterTaskDefinitionCommand,
  type Service,
  StopServiceDeploymentCommand,
  UpdateServiceCommand,
} from "@aws-sdk/client-ecs";
import { processorUnits, type runOptions } from "../../api/stored-settings.ts";
import {
  containerName,
  familyOf,
  hookTimeoutMinutes,
  logPrefix,
  projectOf,
  serviceName,
  type TaskPurpose,
  taskIdOf,
} from "./app-names.ts";
import { clientDefaults, isNamed, ownRegion, shortCallDefaults } from "./clients.ts";
import { containerEnd } from "./container-end.ts";
import { ServiceChangeRefused } from "./errors.ts";
import { type ProbeResult, probe } from "./probe.ts";
import { serviceUrl } from "./service-url.ts";

/** How a version of an app runs behind the gateway. */
export type RunOptions = ReturnType<typeof runOptions>;

export interface AppReader {
  /** The task definition of the project's ECS service; null if nothing should run. */
  live(projectId: string): Promise<string | null>;
  /** The same with the number of tasks that the service should run. */
  serving(projectId: string): Promise<{ taskDefinition: string; instances: number } | null>;
  /** Whether the project's ECS service was deleted and still ends its tasks; its name cannot be used until then. */
  isDraining(projectId: string): Promise<boolean>;
  /** The address of the project's app; `undefined` before the gateway knows one. */
  address(projectId: string): Promise<string | undefined>;
}

export interface TaskIdentifier {
  /** The project whose app this task runs; `undefined` for a task that does not run. */
  projectOf(taskId: string): Promise<string | undefined>;
}

export interface TaskState {
  id: string;
  startedAt: Date | undefined;
  stoppedAt: Date | undefined;
  stopped: boolean;
  exitCode: number | undefined;
  isOutOfMemory: boolean;
  stopCode: string | undefined;
  reason: string | undefined;
}

export interface AppDeployer {
  /** Registers the task definition of a build. */
  register(
    app: { projectId: string; buildId: string; digest: string; port: number; memory: RunOptions["memory"] },
    purpose: TaskPurpose,
  ): Promise<string>;
  /** Creates or updates the project's service; the new version starts beside the running one. */
  apply(projectId: string, taskDefinition: string, run: Pick<RunOptions, "healthPath" | "instances">): Promise<void>;
  /** Changes how many tasks of the live version run. */
  scale(projectId: string, instances: number): Promise<void>;
  /** Deletes the project's service in any state; false if there is none. */
  remove(projectId: string): Promise<boolean>;
}

export interface AppSwitch {
  /** The time limit for the first healthy response of a new version. */
  healthTimeoutSeconds: number;
  /** The ids of the running tasks of one build. */
  runningTasks(buildId: string): Promise<string[]>;
  /** The running, or the stopped, tasks of one build. */
  tasks(buildId: string, which: "RUNNING" | "STOPPED"): Promise<TaskState[]>;
  /** The events of the project's service in ECS, newest first. */
  events(projectId: string, since: Date): Promise<string[]>;
  /** Answers the hook of a deployment; false if ECS refuses; the caller then reads the deployment again. */
  answer(deploymentArn: string, hookId: string, action: "CONTINUE" | "ROLLBACK"): Promise<boolean>;
  /** Rolls back a deployment that is not at its hook; false when ECS refuses. */
  rollBack(deploymentArn: string): Promise<boolean>;
  /** Sends one GET of the health path to the app: to the new version before the traffic moves, or to the public address. */
  probe(address: string, version: "new" | "public", path: string): Promise<ProbeResult>;
}

export function appReader(environment: { CLUSTER_NAME: string }): AppReader {
  const ecs = new ECSClient(shortCallDefaults());
  const cluster = environment.CLUSTER_NAME;

  async function describe(projectId: string): Promise<Service | undefined> {
    const output = await ecs.send(new DescribeServicesCommand({ cluster, services: [serviceName(projectId)] }));
    const service = output.services?.[0];
    if (!service && output.failures?.some(({ reason }) => reason !== "MISSING"))
      throw new Error("The service cannot be read");
    return service;
  }

  const reader: AppReader = {
    live: async (projectId) => (await reader.serving(projectId))?.taskDefinition ?? null,
    async serving(projectId) {
      const service = await describe(projectId);
      if (service?.status !== "ACTIVE" || !service.desiredCount) return null;
      const taskDefinition =
        service.deployments?.find((one) => one.status === "PRIMARY")?.taskDefinition ?? service.taskDefinition;
      return taskDefinition === undefined ? null : { taskDefinition, instances: service.desiredCount };
    },
    isDraining: async (projectId) => (await describe(projectId))?.status === "DRAINING",
    async address(projectId) {
      // A route can be deleted between the two calls, with the service of a first deployment that failed.
      for (let look = 0; look < 2; look += 1) {
        const routes = await ecs.send(new ListGatewayRoutesCommand({ cluster, service: serviceName(projectId) }));
        const gatewayRouteArn = routes.gatewayRoutes?.[0]?.gatewayRouteArn;
        if (!gatewayRouteArn) return undefined;
        try {
          const route = await ecs.send(new DescribeGatewayRouteCommand({ gatewayRouteArn }));
          return route.gatewayRoute?.serviceUrl;
        } catch (error) {
          if (!isNamed(error, "ResourceNotFoundException")) throw error;
        }
      }
      return undefined;
    },
  };
  return reader;
}

export function taskIdentifier({ CLUSTER_NAME: cluster }: { CLUSTER_NAME: string }): TaskIdentifier {
  const ecs = new ECSClient(shortCallDefaults());
  return {
    async projectOf(taskId) {
      const output = await ecs.send(new DescribeTasksCommand({ cluster, tasks: [taskId] }));
      const task = output.tasks?.[0];
      if (task?.lastStatus !== "RUNNING") return undefined;
      // The tasks of release commands have the service's name as their group.
      const service = task.group?.replace(/^service:/, "");
      return service && projectOf(service);
    },
  };
}

interface DeployEnvironment {
  CLUSTER_NAME: string;
  APP_TASK_ROLE: string;
  APP_EXECUTION_ROLE: string;
  APP_SUBNETS: string;
  APP_SECURITY_GROUPS: string;
  APP_LOG_GROUP: string;
  IMAGE_REPOSITORY: string;
  SERVICE_HOST: string;
}

type Shared = Pick<CreateServiceCommandInput, "deploymentConfiguration" | "gatewayConnectors" | "networkConfiguration">;

function serviceShape(environment: DeployEnvironment, healthPath: string): Shared {
  return {
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: environment.APP_SUBNETS.split(","),
        securityGroups: environment.APP_SECURITY_GROUPS.split(","),
        assignPublicIp: "ENABLED",
      },
    },
    deploymentConfiguration: {
      strategy: "BLUE_GREEN",
      bakeTimeInMinutes: 0,
      maximumPercent: 200,
      minimumHealthyPercent: 100,
      lifecycleHooks: [
        {
          targetType: "PAUSE",
          lifecycleStages: ["POST_TEST_TRAFFIC_SHIFT"],
          timeoutConfiguration: { timeoutInMinutes: hookTimeoutMinutes, action: "ROLLBACK" },
        },
      ],
    },
    gatewayConnectors: [
      {
        portName: "http",
        healthCheck: {
          healthCheckPath: healthPath,
          healthCheckIntervalSeconds: 6,
          healthCheckTimeoutSeconds: 5,
          healthyThresholdCount: 2,
          unhealthyThresholdCount: 10,
          matcher: { httpCode: "200-499" },
        },
      },
    ],
  };
}

/** ECS refuses to change a service while a deployment is in progress or an earlier service with the same name is draining. */
function refusedChange(error: unknown): unknown {
  if (!isNamed(error, "InvalidParameterException", "ConflictException")) return error;
  return new ServiceChangeRefused("ECS refused to change the service", { cause: error });
}

export function appDeployer(environment: DeployEnvironment): AppDeployer {
  const ecs = new ECSClient(clientDefaults());
  const cluster = environment.CLUSTER_NAME;
  return {
    async register({ projectId, buildId, digest, port, memory }, purpose) {
      const output = await ecs.send(
        new RegisterTaskDefinitionCommand({
          family: familyOf(buildId, purpose),
          cpu: String(processorUnits[memory]),
          memory: String(memory),
          networkMode: "awsvpc",
          requiresCompatibilities: ["FARGATE"],
          runtimePlatform: { cpuArchitecture: "ARM64", operatingSystemFamily: "LINUX" },
          taskRoleArn: environment.APP_TASK_ROLE,
          executionRoleArn: environment.APP_EXECUTION_ROLE,
          containerDefinitions: [
            {
              name: containerName,
              image: `${environment.IMAGE_REPOSITORY}/${projectId}@${digest}`,
              essential: true,
              environment: [
                { name: "PORT", value: String(port) },
                { name: "SLIPWAY_URL", value: serviceUrl(environment.SERVICE_HOST) },
              ],
              portMappings: [{ name: "http", containerPort: port, protocol: "tcp", appProtocol: "http" }],
              linuxParameters: { initProcessEnabled: true },
              stopTimeout: 30,
              logConfiguration: {
                logDriver: "awslogs",
                options: {
                  "awslogs-group": environment.APP_LOG_GROUP,
                  "awslogs-region": ownRegion(),
                  "awslogs-stream-prefix": logPrefix({ projectId, buildId }, purpose),
                },
              },
            },
          ],
        }),
      );
      const arn = output.taskDefinition?.taskDefinitionArn;
      if (!arn) throw new Error("ECS registered no task definition");
      return arn;
    },
    async apply(projectId, taskDefinition, { healthPath, instances }) {
      const shape = serviceShape(environment, healthPath);
      const service = { cluster, taskDefinition, desiredCount: instances, ...shape };
      try {
        await ecs.send(new UpdateServiceCommand({ ...service, service: serviceName(projectId) }));
      } catch (error) {
        if (!isNamed(error, "ServiceNotFoundException", "ServiceNotActiveException")) throw refusedChange(error);
        await ecs
          .send(
            new CreateServiceCommand({
              ...service,
              serviceName: serviceName(projectId),
              launchType: "FARGATE",
              deploymentController: { type: "ECS" },
              healthCheckGracePeriodSeconds: 600,
            }),
          )
          .catch((refused) => {
            throw refusedChange(refused);
          });
      }
    },
    async scale(projectId, instances) {
      const service = serviceName(projectId);
      await ecs.send(new UpdateServiceCommand({ cluster, service, desiredCount: instances })).catch((error) => {
        throw refusedChange(error);
      });
    },
    async remove(projectId) {
      try {
        await ecs.send(new DeleteServiceCommand({ cluster, service: serviceName(projectId), force: true }));
        return true;
      } catch (error) {
        if (isNamed(error, "ServiceNotFoundException", "ServiceNotActiveException")) return false;
        throw error;
      }
    },
  };
}

/** False if ECS refuses a call because of the deployment's state; it does not document with which of these errors. */
async function accepted(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (isNamed(error, "InvalidParameterException", "ConflictException", "ClientException")) return false;
    throw error;
  }
}

export function appSwitch(environment: {
  CLUSTER_NAME: string;
  HEALTH_TIMEOUT_SECONDS: string;
  PROBE_HEADER_NAME: string;
  PROBE_HEADER_VALUE: string;
}): AppSwitch {
  const ecs = new ECSClient(clientDefaults());
  const cluster = environment.CLUSTER_NAME;

  async function taskArnsOf(buildId: string, desiredStatus: "RUNNING" | "STOPPED"): Promise<string[]> {
    const output = await ecs.send(new ListTasksCommand({ cluster, family: familyOf(buildId), desiredStatus }));
    return output.taskArns ?? [];
  }

  return {
    healthTimeoutSeconds: Number(environment.HEALTH_TIMEOUT_SECONDS),
    runningTasks: async (buildId) => (await taskArnsOf(buildId, "RUNNING")).map(taskIdOf),
    async tasks(buildId, desiredStatus) {
      const taskArns = await taskArnsOf(buildId, desiredStatus);
      if (taskArns.length === 0) return [];
      const output = await ecs.send(new DescribeTasksCommand({ cluster, tasks: taskArns.slice(0, 100) }));
      return (output.tasks ?? []).map((task) => ({
        id: taskIdOf(task.taskArn ?? ""),
        startedAt: task.startedAt,
        stoppedAt: task.stoppedAt,
        stopped: task.lastStatus === "STOPPED",
        ...containerEnd(task),
        stopCode: task.stopCode,
        reason: task.stoppedReason,
      }));
    },
    async events(projectId, since) {
      const output = await ecs.send(new DescribeServicesCommand({ cluster, services: [serviceName(projectId)] }));
      return (output.services?.[0]?.events ?? [])
        .filter((event) => (event.createdAt ?? new Date(0)) >= since)
        .map((event) => event.message ?? "");
    },
    answer: (serviceDeploymentArn, hookId, action) =>
      accepted(ecs.send(new ContinueServiceDeploymentCommand({ serviceDeploymentArn, hookId, action }))),
    rollBack: (serviceDeploymentArn) =>
      accepted(ecs.send(new StopServiceDeploymentCommand({ serviceDeploymentArn, stopType: "ROLLBACK" }))),
    probe: (address, version, path) =>
      probe(
        address,
        path,
        // With another value the load balancer does not treat it as test traffic; it only says that this is a check.
        { [environment.PROBE_HEADER_NAME]: version === "new" ? environment.PROBE_HEADER_VALUE : "public" },
      ),
  };
}
