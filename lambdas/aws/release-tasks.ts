import { ECSClient, ListTasksCommand, StopTaskCommand } from "@aws-sdk/client-ecs";
import { familyOf } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface ReleaseStopper {
  /** Stops the task of a build's release command, if it runs, also one whose id was never stored. */
  stop(buildId: string): Promise<void>;
}

export function releaseStopper({ CLUSTER_NAME: cluster }: { CLUSTER_NAME: string }): ReleaseStopper {
  const ecs = new ECSClient(clientDefaults());
  return {
    async stop(buildId) {
      const { taskArns = [] } = await ecs.send(new ListTasksCommand({ cluster, family: familyOf(buildId, "release") }));
      for (const task of taskArns) {
        await ecs
          .send(new StopTaskCommand({ cluster, task, reason: "The deployment has ended." }))
          .catch((error: unknown) => {
            // The task has ended in the meantime.
            if (!isNamed(error, "InvalidParameterException")) throw error;
          });
      }
    },
  };
}
