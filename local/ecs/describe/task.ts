import type { Arns } from "../arns.ts";
import type { TaskDefinitionRecord, TaskRecord } from "../records.ts";
import { seconds } from "./seconds.ts";

/** A task definition as ECS describes it. */
export function describeTaskDefinition({ registeredAt, deregisteredAt, ...definition }: TaskDefinitionRecord) {
  return { ...definition, registeredAt: seconds(registeredAt), deregisteredAt: seconds(deregisteredAt) };
}

/** A task as ECS describes it; `group` is `service:` and a name for the tasks of a service. */
export function describeTask(
  arns: Arns,
  group: string,
  task: TaskRecord,
  definition: TaskDefinitionRecord | undefined,
) {
  const taskArn = arns.task(task.id);
  return {
    taskArn,
    clusterArn: arns.cluster,
    taskDefinitionArn: task.taskDefinition,
    group,
    startedBy: task.startedBy,
    lastStatus: task.lastStatus,
    desiredStatus: task.desiredStatus,
    healthStatus: "UNKNOWN",
    connectivity: task.lastStatus === "RUNNING" ? "CONNECTED" : "DISCONNECTED",
    launchType: "FARGATE",
    cpu: definition?.cpu,
    memory: definition?.memory,
    createdAt: seconds(task.createdAt),
    startedAt: seconds(task.startedAt),
    stoppingAt: seconds(task.stoppingAt),
    stoppedAt: seconds(task.stoppedAt),
    executionStoppedAt: seconds(task.stoppedAt),
    stopCode: task.stopCode,
    stoppedReason: task.stoppedReason,
    containers: [
      {
        containerArn: arns.container(task.id, task.containerName),
        taskArn,
        name: task.containerName,
        image: task.image,
        lastStatus: task.lastStatus,
        exitCode: task.exitCode,
        reason: task.stopCode === "TaskFailedToStart" ? task.stoppedReason : task.exitReason,
        healthStatus: "UNKNOWN",
      },
    ],
  };
}
