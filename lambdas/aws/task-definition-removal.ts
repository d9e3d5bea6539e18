import {
  DeleteTaskDefinitionsCommand,
  DeregisterTaskDefinitionCommand,
  ECSClient,
  paginateListTaskDefinitions,
} from "@aws-sdk/client-ecs";
import { familyOf } from "./app-names.ts";
import { clientDefaults } from "./clients.ts";

export interface TaskDefinitionRemover {
  /** Deregisters and deletes the task definitions of a build and of its release command; succeeds if there are none. */
  remove(buildId: string): Promise<void>;
}

/** ECS deletes so many task definitions in one call. */
const deletedAtOnce = 10;

export function taskDefinitionRemover(): TaskDefinitionRemover {
  const client = new ECSClient(clientDefaults());

  async function listed(familyPrefix: string, status: "ACTIVE" | "INACTIVE"): Promise<string[]> {
    const found: string[] = [];
    for await (const { taskDefinitionArns = [] } of paginateListTaskDefinitions({ client }, { familyPrefix, status }))
      found.push(...taskDefinitionArns);
    return found;
  }

  async function removeFamily(family: string): Promise<void> {
    const active = await listed(family, "ACTIVE");
    for (const taskDefinition of active) await client.send(new DeregisterTaskDefinitionCommand({ taskDefinition }));
    // Those that an earlier attempt deregistered and did not delete; ECS may list the ones from above late.
    const deregistered = [...new Set([...active, ...(await listed(family, "INACTIVE"))])];
    for (let from = 0; from < deregistered.length; from += deletedAtOnce) {
      const taskDefinitions = deregistered.slice(from, from + deletedAtOnce);
      const { failures = [] } = await client.send(new DeleteTaskDefinitionsCommand({ taskDefinitions }));
      if (failures.length > 0) throw new Error(`ECS did not delete ${failures[0]?.arn}: ${failures[0]?.reason}`);
    }
  }

  return {
    async remove(buildId) {
      await removeFamily(familyOf(buildId, "serve"));
      await removeFamily(familyOf(buildId, "release"));
    },
  };
}
