import { DescribeTasksCommand, ECSClient, RunTaskCommand, StopTaskCommand } from "@aws-sdk/client-ecs";
import { containerName, serviceName, taskIdOf } from "./app-names.ts";
import { clientDefaults } from "./clients.ts";
import { containerEnd } from "./container-end.ts";
import { RetriesExhausted } from "./transient.ts";

/** A task that runs one command in an app's image. */
export interface CommandTask {
  id: string;
  startedAt: Date | undefined;
  stopped: boolean;
  exitCode: number | undefined;
  isOutOfMemory: boolean;
  reason: string | undefined;
}

export interface AppRunner {
  /** How long a command may run. */
  timeoutSeconds: number;
  /** Starts a command in a task of its own, in the network of the apps. A repeated token starts no second task. */
  run(task: { projectId: string; taskDefinition: string; command: string; token: string }): Promise<CommandTask>;
  /** The task; `undefined` while ECS does not describe it. */
  task(id: string): Promise<CommandTask | undefined>;
  stop(id: string, reason: string): Promise<void>;
}

export function appRunner(environment: {
  CLUSTER_NAME: string;
  APP_SUBNETS: string;
  APP_SECURITY_GROUPS: string;
  RELEASE_TIMEOUT_SECONDS: string;
}): AppRunner {
  const ecs = new ECSClient(clientDefaults());
  const cluster = environment.CLUSTER_NAME;

  const stateOf = (task: {
    taskArn?: string | undefined;
    startedAt?: Date | undefined;
    lastStatus?: string | undefined;
    stoppedReason?: string | undefined;
    containers?: Parameters<typeof containerEnd>[0]["containers"];
  }): CommandTask => ({
    id: taskIdOf(task.taskArn ?? ""),
    startedAt: task.startedAt,
    stopped: task.lastStatus === "STOPPED",
    ...containerEnd(task),
    reason: task.stoppedReason,
  });

  return {
    timeoutSeconds: Number(environment.RELEASE_TIMEOUT_SECONDS),
    async run({ projectId, taskDefinition, command, token }) {
      const output = await ecs.send(
        new RunTaskCommand({
          cluster,
          taskDefinition,
          clientToken: token,
          count: 1,
          launchType: "FARGATE",
          // The group tells which project's task proves its identity.
          group: serviceName(projectId),
          networkConfiguration: {
            awsvpcConfiguration: {
              subnets: environment.APP_SUBNETS.split(","),
              securityGroups: environment.APP_SECURITY_GROUPS.split(","),
              assignPublicIp: "ENABLED",
            },
          },
          overrides: { containerOverrides: [{ name: containerName, command: ["/bin/sh", "-c", command] }] },
        }),
      );
      const task = output.tasks?.[0];
      if (!task) throw new RetriesExhausted(`ECS started no task: ${output.failures?.[0]?.reason ?? "no reason"}`);
      return stateOf(task);
    },
    async task(id) {
      const output = await ecs.send(new DescribeTasksCommand({ cluster, tasks: [id] }));
      const task = output.tasks?.[0];
      return task && stateOf(task);
    },
    async stop(id, reason) {
      await ecs.send(new StopTaskCommand({ cluster, task: id, reason }));
    },
  };
}
