import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { nameOf } from "../arns.ts";
import type { Cluster } from "../cluster.ts";
import { describeTaskDefinition } from "../describe/task.ts";
import { containerDefinition, type TaskDefinitionRecord } from "../records.ts";

/** Finds a task definition by `family`, `family:revision` or ARN; a family alone means its latest ACTIVE revision. */
export function findTaskDefinition({ store }: Cluster, reference: string): TaskDefinitionRecord {
  const [family = "", revision] = nameOf(reference).split(":");
  const known = store.family(family);
  const found = revision
    ? known.find((record) => record.revision === Number(revision))
    : known.findLast(({ status }) => status === "ACTIVE");
  if (!found) throw new AwsError("ClientException", "Unable to describe task definition.");
  return found;
}

function register(cluster: Cluster): Operation {
  const { arns, host, store } = cluster;
  const schema = z.looseObject({
    family: z.string().regex(/^[A-Za-z0-9_-]{1,255}$/),
    containerDefinitions: z.tuple([containerDefinition], containerDefinition),
    cpu: z.string().optional(),
    memory: z.string().optional(),
    tags: z.array(z.unknown()).optional(),
  });
  return operation(schema, async ({ tags, ...input }) => {
    const revision = Math.max(0, ...store.family(input.family).map((record) => record.revision)) + 1;
    const record: TaskDefinitionRecord = {
      ...input,
      taskDefinitionArn: arns.taskDefinition(input.family, revision),
      revision,
      status: "ACTIVE",
      registeredAt: host.now(),
    };
    await store.saveTaskDefinition(record);
    return { taskDefinition: describeTaskDefinition(record), tags: tags ?? [] };
  });
}

/** RegisterTaskDefinition, DeregisterTaskDefinition, DescribeTaskDefinition. */
export function taskDefinitionOperations(cluster: Cluster): Record<string, Operation> {
  const byReference = z.object({ taskDefinition: z.string().min(1) });
  return {
    RegisterTaskDefinition: register(cluster),
    DescribeTaskDefinition: operation(byReference, ({ taskDefinition }) => ({
      taskDefinition: describeTaskDefinition(findTaskDefinition(cluster, taskDefinition)),
    })),
    DeregisterTaskDefinition: operation(byReference, async ({ taskDefinition }) => {
      const record = findTaskDefinition(cluster, taskDefinition);
      record.status = "INACTIVE";
      record.deregisteredAt ??= cluster.host.now();
      await cluster.store.saveTaskDefinition(record);
      return { taskDefinition: describeTaskDefinition(record) };
    }),
  };
}
