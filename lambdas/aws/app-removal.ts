import { DeleteServiceCommand, ECSClient } from "@aws-sdk/client-ecs";
import { serviceName } from "./app-names.ts";
import { clientDefaults, isNamed } from "./clients.ts";

export interface AppRemover {
  /** Deletes the project's service and stops its tasks; succeeds if there is none. */
  remove(projectId: string): Promise<void>;
}

export function appRemover(environment: { CLUSTER_NAME: string }): AppRemover {
  const ecs = new ECSClient(clientDefaults());
  const cluster = environment.CLUSTER_NAME;
  return {
    async remove(projectId) {
      const service = serviceName(projectId);
      await ecs.send(new DeleteServiceCommand({ cluster, service, force: true })).catch((error) => {
        if (!isNamed(error, "ServiceNotFoundException", "ServiceNotActiveException")) throw error;
      });
    },
  };
}
