import { DescribeTasksCommand, ECSClient, ListTasksCommand } from "@aws-sdk/client-ecs";
import { familyOf, taskIdOf } from "./app-names.ts";
import { shortCallDefaults } from "./clients.ts";
import { containerEnd } from "./container-end.ts";

export interface AppExit {
  taskId: string;
  at: Date;
  exitCode: number | undefined;
  isOutOfMemory: boolean;
  reason: string | undefined;
}

export interface AppExits {
  /** The instances of a build that ended by themselves within the last hour, the last one first. */
  of(buildId: string, now: Date): Promise<AppExit[]>;
}

const hourMs = 3_600_000;

export function appExits({ CLUSTER_NAME: cluster }: { CLUSTER_NAME: string }): AppExits {
  const ecs = new ECSClient(shortCallDefaults());
  return {
    async of(buildId, now) {
      const listed = await ecs.send(
        new ListTasksCommand({ cluster, family: familyOf(buildId), desiredStatus: "STOPPED" }),
      );
      const tasks = listed.taskArns?.slice(0, 100) ?? [];
      if (tasks.length === 0) return [];
      const output = await ecs.send(new DescribeTasksCommand({ cluster, tasks }));
      return (output.tasks ?? [])
        .filter(({ stopCode }) => stopCode === "EssentialContainerExited" || stopCode === "TaskFailedToStart")
        .flatMap(({ taskArn = "", stoppedAt, containers, stoppedReason: reason }) => {
          if (!stoppedAt || now.getTime() - stoppedAt.getTime() > hourMs) return [];
          return [{ taskId: taskIdOf(taskArn), at: stoppedAt, ...containerEnd({ containers }), reason }];
        })
        .sort((one, other) => other.at.getTime() - one.at.getTime());
    },
  };
}
