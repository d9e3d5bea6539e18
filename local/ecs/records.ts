import * as z from "zod";

/** The fields of a container definition that the local ECS uses; the others are stored and returned unchanged. */
export const containerDefinition = z.looseObject({
  name: z.string().min(1).max(255),
  image: z.string().min(1),
  entryPoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
  portMappings: z
    .array(z.looseObject({ containerPort: z.int().min(1).max(65_535), name: z.string().optional() }))
    .optional(),
  logConfiguration: z
    .looseObject({ logDriver: z.string(), options: z.record(z.string(), z.string()).optional() })
    .optional(),
  linuxParameters: z.looseObject({ initProcessEnabled: z.boolean().optional() }).optional(),
  user: z.string().optional(),
  readonlyRootFilesystem: z.boolean().optional(),
  /** Seconds between SIGTERM and SIGKILL. */
  stopTimeout: z.number().min(0).max(120).optional(),
});

export const taskDefinitionRecord = z.looseObject({
  taskDefinitionArn: z.string(),
  family: z.string(),
  revision: z.number(),
  status: z.enum(["ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"]),
  registeredAt: z.number(),
  deregisteredAt: z.number().optional(),
  cpu: z.string().optional(),
  memory: z.string().optional(),
  containerDefinitions: z.tuple([containerDefinition], containerDefinition),
});
export type TaskDefinitionRecord = z.infer<typeof taskDefinitionRecord>;

export function containerPortOf({ containerDefinitions: [container] }: TaskDefinitionRecord): number {
  return container.portMappings?.[0]?.containerPort ?? 80;
}

const hookStages = [
  "PRE_SCALE_UP",
  "POST_SCALE_UP",
  "POST_TEST_TRAFFIC_SHIFT",
  "PRE_PRODUCTION_TRAFFIC_SHIFT",
  "POST_PRODUCTION_TRAFFIC_SHIFT",
] as const;
export type HookStage = (typeof hookStages)[number];

export const stages = [
  "PRE_SCALE_UP",
  "SCALE_UP",
  "POST_SCALE_UP",
  "TEST_TRAFFIC_SHIFT",
  "POST_TEST_TRAFFIC_SHIFT",
  "PRE_PRODUCTION_TRAFFIC_SHIFT",
  "PRODUCTION_TRAFFIC_SHIFT",
  "POST_PRODUCTION_TRAFFIC_SHIFT",
  "BAKE_TIME",
  "CLEAN_UP",
] as const;
export type Stage = (typeof stages)[number];

const hookAction = z.enum(["CONTINUE", "ROLLBACK"]);

export const deploymentConfiguration = z.looseObject({
  strategy: z.literal("BLUE_GREEN"),
  bakeTimeInMinutes: z.number().min(0).max(1440),
  lifecycleHooks: z
    .array(
      z.looseObject({
        targetType: z.literal("PAUSE"),
        lifecycleStages: z.array(z.enum(hookStages)).min(1),
        timeoutConfiguration: z
          .object({ timeoutInMinutes: z.number().positive().max(20_160).optional(), action: hookAction.optional() })
          .optional(),
      }),
    )
    .optional(),
});

export const gatewayConnector = z.looseObject({
  portName: z.string().min(1),
  healthCheck: z
    .looseObject({
      healthCheckPath: z.string().startsWith("/").optional(),
      healthCheckTimeoutSeconds: z.number().positive().max(120).optional(),
      matcher: z
        .looseObject({
          httpCode: z
            .string()
            .regex(/^\d{3}(-\d{3})?(,\d{3}(-\d{3})?)*$/)
            .optional(),
        })
        .optional(),
    })
    .optional(),
});
export type GatewayConnector = z.infer<typeof gatewayConnector>;

const revisionRecord = z.object({
  arn: z.string(),
  /** `ecs-svc/<digits>`: the startedBy value of this revision's tasks. */
  startedBy: z.string(),
  taskDefinition: z.string(),
  gatewayConnectors: z.tuple([gatewayConnector]),
  /** How many tasks it runs; absent in records of earlier versions, which ran one. */
  count: z.int().optional(),
  /** Which of the service's two target groups it is in; absent in records of earlier versions. */
  targetGroup: z.literal([0, 1]).optional(),
  createdAt: z.number(),
});
export type RevisionRecord = z.infer<typeof revisionRecord>;

const hookRecord = z.object({
  hookId: z.string(),
  stage: z.enum(hookStages),
  status: z.enum(["AWAITING_ACTION", "SUCCEEDED", "FAILED", "TIMED_OUT"]),
  expiresAt: z.number(),
  timeoutAction: hookAction,
});
export type HookRecord = z.infer<typeof hookRecord>;

const deploymentRecord = z.object({
  arn: z.string(),
  status: z.enum([
    "IN_PROGRESS",
    "ROLLBACK_IN_PROGRESS",
    "ROLLBACK_SUCCESSFUL",
    "STOP_REQUESTED",
    "STOPPED",
    "SUCCESSFUL",
  ]),
  statusReason: z.string().optional(),
  lifecycleStage: z.enum(stages),
  hooks: z.array(hookRecord),
  target: z.string(),
  source: z.string().optional(),
  rollback: z
    .object({ reason: z.string(), startedAt: z.number(), serviceRevisionArn: z.string().optional() })
    .optional(),
  configuration: deploymentConfiguration,
  failedTasks: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
  finishedAt: z.number().optional(),
  stoppedAt: z.number().optional(),
});
export type DeploymentRecord = z.infer<typeof deploymentRecord>;

export const taskRecord = z.object({
  id: z.string(),
  taskDefinition: z.string(),
  startedBy: z.string(),
  containerName: z.string(),
  image: z.string(),
  lastStatus: z.enum(["PROVISIONING", "RUNNING", "STOPPING", "STOPPED"]),
  desiredStatus: z.enum(["RUNNING", "STOPPED"]),
  health: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]),
  createdAt: z.number(),
  startedAt: z.number().optional(),
  stoppingAt: z.number().optional(),
  stoppedAt: z.number().optional(),
  stopCode: z
    .enum(["EssentialContainerExited", "TaskFailedToStart", "ServiceSchedulerInitiated", "UserInitiated"])
    .optional(),
  stoppedReason: z.string().optional(),
  exitCode: z.number().optional(),
  /** Why the container ended, if its exit code does not say it. */
  exitReason: z.string().optional(),
});
export type TaskRecord = z.infer<typeof taskRecord>;

const eventRecord = z.object({ id: z.string(), createdAt: z.number(), message: z.string() });

export const serviceRecord = z.object({
  name: z.string(),
  status: z.enum(["ACTIVE", "DRAINING", "INACTIVE"]),
  clientToken: z.string().optional(),
  createdAt: z.number(),
  /** The number that the caller requested; a service without a live revision still runs no tasks. */
  desiredCount: z.number(),
  port: z.number(),
  /** The port has changed, and the change has not been announced yet. */
  hasMoved: z.boolean().optional(),
  configuration: deploymentConfiguration,
  gatewayConnectors: z.tuple([gatewayConnector]),
  /** Fields that are returned unchanged (network, launch type, tags). */
  described: z.record(z.string(), z.unknown()),
  revisions: z.array(revisionRecord),
  /** The revision that has the production traffic. */
  live: z.string().optional(),
  deployments: z.array(deploymentRecord),
  events: z.array(eventRecord),
  stoppedTasks: z.array(taskRecord),
});
export type ServiceRecord = z.infer<typeof serviceRecord>;

export const isRunning = ({ status }: DeploymentRecord): boolean => status === "IN_PROGRESS";
/** True after the production traffic has shifted to the deployment's target revision. */
export const isShifted = ({ lifecycleStage }: DeploymentRecord): boolean =>
  stages.indexOf(lifecycleStage) >= stages.indexOf("PRODUCTION_TRAFFIC_SHIFT");
