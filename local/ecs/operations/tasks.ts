import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { nameOf } from "../arns.ts";
import { describeTask } from "../describe/task.ts";
import type { TaskRecord } from "../records.ts";
import type { ServiceController } from "../service-controller.ts";
import { clusterInput, findService, type Services } from "./known-services.ts";
import { page, pageInput } from "./page.ts";
import { findTaskDefinition } from "./task-definitions.ts";

interface Known {
  group: string;
  record: TaskRecord;
}

function tasksOf(services: Iterable<ServiceController>): Known[] {
  return [...services].flatMap((service) =>
    [...service.tasks.map(({ record }) => record), ...service.record.stoppedTasks].map((record) => ({
      group: `service:${service.record.name}`,
      record,
    })),
  );
}

function knownTasks({ controllers, runTasks }: Services): Known[] {
  return [...tasksOf(controllers.values()), ...runTasks.all.map(({ group, task }) => ({ group, record: task }))];
}

function list(services: Services): Operation {
  const schema = z.looseObject({
    ...clusterInput,
    ...pageInput,
    serviceName: z.string().optional(),
    family: z.string().optional(),
    startedBy: z.string().optional(),
    desiredStatus: z.enum(["RUNNING", "PENDING", "STOPPED"]).default("RUNNING"),
  });
  return operation(schema, (input) => {
    services.arns.requireCluster(input.cluster);
    const scope = input.serviceName ? tasksOf([findService(services, input.serviceName)]) : knownTasks(services);
    const found = scope.filter(
      ({ record }) =>
        record.desiredStatus === input.desiredStatus &&
        (input.startedBy === undefined || record.startedBy === input.startedBy) &&
        (input.family === undefined || nameOf(record.taskDefinition).split(":")[0] === input.family),
    );
    const { rows, next } = page(found, input);
    return { taskArns: rows.map(({ record }) => services.arns.task(record.id)), ...next };
  });
}

function described(services: Services, { group, record }: Known) {
  const definition = services.store.taskDefinitions.get(record.taskDefinition);
  return describeTask(services.arns, group, record, definition);
}

function describe(services: Services): Operation {
  const schema = z.object({
    ...clusterInput,
    tasks: z.array(z.string().min(1)).min(1).max(100),
    include: z.array(z.string()).optional(),
  });
  return operation(schema, ({ cluster, tasks }) => {
    services.arns.requireCluster(cluster);
    const known = new Map(knownTasks(services).map((task) => [task.record.id, task]));
    const found = tasks.map((reference) => known.get(nameOf(reference)));
    return {
      tasks: found.filter((task) => task !== undefined).map((task) => described(services, task)),
      failures: tasks
        .filter((_, i) => found[i] === undefined)
        .map((reference) => ({ arn: services.arns.task(nameOf(reference)), reason: "MISSING" })),
    };
  });
}

function stop(services: Services): Operation {
  const schema = z.object({ ...clusterInput, task: z.string().min(1), reason: z.string().max(1024).optional() });
  return operation(schema, ({ cluster, task: reference, reason }) => {
    services.arns.requireCluster(cluster);
    for (const service of services.controllers.values()) {
      const task = service.tasks.find(({ record }) => record.id === nameOf(reference));
      if (!task) continue;
      void task.stop("UserInitiated", reason ?? "Task stopped by user");
      return { task: described(services, { group: `service:${service.record.name}`, record: task.record }) };
    }
    services.runTasks.stop(nameOf(reference), reason ?? "Task stopped by user");
    const stopped = knownTasks(services).find(({ record }) => record.id === nameOf(reference));
    if (!stopped) throw new AwsError("InvalidParameterException", "The referenced task was not found.");
    return { task: described(services, stopped) };
  });
}

function run(services: Services): Operation {
  const schema = z.looseObject({
    ...clusterInput,
    taskDefinition: z.string().min(1),
    count: z.literal(1).default(1),
    clientToken: z.string().max(64).optional(),
    startedBy: z.string().max(128).optional(),
    group: z.string().max(255).optional(),
    overrides: z
      .strictObject({
        containerOverrides: z.tuple([z.strictObject({ name: z.string(), command: z.array(z.string()).optional() })]),
      })
      .optional(),
  });
  return operation(schema, async (input) => {
    services.arns.requireCluster(input.cluster);
    const definition = findTaskDefinition(services, input.taskDefinition);
    const override = input.overrides?.containerOverrides[0];
    if (override && override.name !== definition.containerDefinitions[0].name)
      throw new AwsError(
        "InvalidParameterException",
        `Override for container named ${override.name} is not a container.`,
      );
    const { group, task } = await services.runTasks.run({
      definition,
      group: input.group ?? `family:${definition.family}`,
      startedBy: input.startedBy ?? "",
      clientToken: input.clientToken,
      command: override?.command,
    });
    return { tasks: [described(services, { group, record: task })], failures: [] };
  });
}

/** ListTasks, DescribeTasks, RunTask, StopTask. */
export function taskOperations(services: Services): Record<string, Operation> {
  return {
    RunTask: run(services),
    ListTasks: list(services),
    DescribeTasks: describe(services),
    StopTask: stop(services),
  };
}
