import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { nameOf } from "../arns.ts";
import type { Cluster } from "../cluster.ts";
import { describeTaskDefinition } from "../describe/task.ts";
import { containerDefinition, type TaskDefinitionRecord } from "../records.ts";
import { page, pageInput } from "./page.ts";

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

function list({ store }: Cluster): Operation {
  const schema = z.object({
    ...pageInput,
    familyPrefix: z.string().optional(),
    status: z.enum(["ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"]).default("ACTIVE"),
  });
  return operation(schema, (input) => {
    const scope =
      input.familyPrefix === undefined ? [...store.taskDefinitions.values()] : store.family(input.familyPrefix);
    const { rows, next } = page(
      scope.filter(({ status }) => status === input.status),
      input,
    );
    return { taskDefinitionArns: rows.map(({ taskDefinitionArn }) => taskDefinitionArn), ...next };
  });
}

/** Only a deregistered task definition can be deleted; one that a service uses goes with that service. */
function remove(cluster: Cluster): Operation {
  const { store } = cluster;
  const schema = z.object({ taskDefinitions: z.array(z.string().min(1)).min(1).max(10) });
  return operation(schema, async ({ taskDefinitions }) => {
    const found = taskDefinitions.map((reference) => findTaskDefinition(cluster, reference));
    const [active, deleted] = [found.filter(isActive), found.filter((record) => !isActive(record))];
    for (const record of deleted) {
      record.status = "DELETE_IN_PROGRESS";
      await store.saveTaskDefinition(record);
    }
    store.forgetDeleted();
    const reason = "The specified task definition is still in ACTIVE status.";
    return {
      taskDefinitions: deleted.map(describeTaskDefinition),
      failures: active.map(({ taskDefinitionArn: arn }) => ({ arn, reason })),
    };
  });
}

const isActive = ({ status }: TaskDefinitionRecord) => status === "ACTIVE";

/** RegisterTaskDefinition, DeregisterTaskDefinition, DeleteTaskDefinitions, DescribeTaskDefinition, ListTaskDefinitions. */
export function taskDefinitionOperations(cluster: Cluster): Record<string, Operation> {
  const byReference = z.object({ taskDefinition: z.string().min(1) });
  return {
    RegisterTaskDefinition: register(cluster),
    DescribeTaskDefinition: operation(byReference, ({ taskDefinition }) => ({
      taskDefinition: describeTaskDefinition(findTaskDefinition(cluster, taskDefinition)),
    })),
    ListTaskDefinitions: list(cluster),
    DeleteTaskDefinitions: remove(cluster),
    DeregisterTaskDefinition: operation(byReference, async ({ taskDefinition }) => {
      const record = findTaskDefinition(cluster, taskDefinition);
      if (record.status === "ACTIVE") record.status = "INACTIVE";
      record.deregisteredAt ??= cluster.host.now();
      await cluster.store.saveTaskDefinition(record);
      return { taskDefinition: describeTaskDefinition(record) };
    }),
  };
}
