import * as z from "zod";
import { AwsError, type Operation, operation } from "../../aws/service.ts";
import { describeDeployment, describeDeploymentBriefly, describeRevision } from "../describe/deployment.ts";
import { describeService } from "../describe/service.ts";
import { type DeploymentRecord, isRunning, type RevisionRecord } from "../records.ts";
import type { ServiceController } from "../service-controller.ts";
import { endedStatuses, findService, invalid, type Services } from "./known-services.ts";
import { page, pageInput } from "./page.ts";

interface Found {
  service: ServiceController;
  deployment: DeploymentRecord;
}

function lookUp({ controllers }: Services, arn: string): Found | undefined {
  for (const service of controllers.values()) {
    const deployment = service.record.deployments.find((candidate) => candidate.arn === arn);
    if (deployment) return { service, deployment };
  }
  return undefined;
}

function find(services: Services, arn: string): Found {
  const found = lookUp(services, arn);
  if (!found) throw new AwsError("ServiceDeploymentNotFoundException", "Service deployment not found.");
  return found;
}

function describe(services: Services): Operation {
  const schema = z.object({ serviceDeploymentArns: z.array(z.string().min(1)).min(1).max(20) });
  return operation(schema, ({ serviceDeploymentArns }) => {
    const found = serviceDeploymentArns.map((arn) => lookUp(services, arn));
    return {
      serviceDeployments: found
        .filter((one) => one !== undefined)
        .map(({ service, deployment }) => describeDeployment(services.arns, service, deployment)),
      failures: serviceDeploymentArns
        .filter((_, i) => found[i] === undefined)
        .map((arn) => ({ arn, reason: "MISSING" })),
    };
  });
}

function list(services: Services): Operation {
  const schema = z.object({
    ...pageInput,
    cluster: z.string().optional(),
    service: z.string().min(1),
    status: z.array(z.string()).optional(),
    createdAt: z.object({ before: z.number().optional(), after: z.number().optional() }).optional(),
  });
  return operation(schema, (input) => {
    services.arns.requireCluster(input.cluster);
    const service = findService(services, input.service);
    const { before = Number.POSITIVE_INFINITY, after = 0 } = input.createdAt ?? {};
    const known = services.staleViews.of(service.record.name)?.deployments ?? service.record.deployments;
    const deployments = services.behavior
      .order(known)
      .filter(
        ({ status, createdAt }) =>
          (input.status?.includes(status) ?? true) && createdAt / 1000 >= after && createdAt / 1000 <= before,
      );
    const { rows, next } = page(deployments, input);
    return { serviceDeployments: rows.map((row) => describeDeploymentBriefly(services.arns, service, row)), ...next };
  });
}

/** Throws if there is no earlier revision for a rollback. */
function refuseToNothing({ behavior }: Services, { source }: DeploymentRecord): void {
  if (behavior.refusesRollbackToNothing && source === undefined)
    throw invalid("The service deployment has no earlier service revision to roll back to.");
}

/** Descriptions and lists of the service show the state of now for some time. */
function keepView({ staleViews, arns }: Services, service: ServiceController): void {
  staleViews.keep(service.record.name, () => ({
    service: describeService(arns, service),
    deployments: service.record.deployments,
  }));
}

function proceed(services: Services): Operation {
  const schema = z.object({
    serviceDeploymentArn: z.string().min(1),
    hookId: z.string().min(1),
    action: z.enum(["CONTINUE", "ROLLBACK"]).default("CONTINUE"),
  });
  return operation(schema, async ({ serviceDeploymentArn, hookId, action }) => {
    const { service, deployment } = find(services, serviceDeploymentArn);
    const hook = deployment.hooks.find((candidate) => candidate.hookId === hookId);
    if (!hook || !isRunning(deployment) || hook.status !== "AWAITING_ACTION")
      throw new AwsError("InvalidParameterException", "The lifecycle hook is not awaiting an action.");
    if (action === "ROLLBACK") refuseToNothing(services, deployment);
    keepView(services, service);
    if (action === "CONTINUE") {
      hook.status = "SUCCEEDED";
      await service.act(deployment);
    } else {
      hook.status = "FAILED";
      service.rollBack("Rollback was requested at a lifecycle hook.");
    }
    await service.save();
    return { serviceDeploymentArn };
  });
}

function stop(services: Services): Operation {
  const schema = z.object({
    serviceDeploymentArn: z.string().min(1),
    stopType: z.literal("ROLLBACK").default("ROLLBACK"),
  });
  return operation(schema, async ({ serviceDeploymentArn }) => {
    const { service, deployment } = find(services, serviceDeploymentArn);
    if (endedStatuses.has(deployment.status))
      throw new AwsError("ConflictException", `The service deployment is in the ${deployment.status} state.`);
    // The tasks of the revision before are ending. AWS does not document the answer; the refusal is the strictest one.
    if (isRunning(deployment) && deployment.lifecycleStage === "CLEAN_UP")
      throw new AwsError("ConflictException", "The service deployment is cleaning up.");
    refuseToNothing(services, deployment);
    keepView(services, service);
    if (isRunning(deployment)) service.rollBack("Service deployment rollback was requested.");
    await service.save();
    return { serviceDeploymentArn };
  });
}

function describeRevisions(services: Services): Operation {
  const schema = z.object({ serviceRevisionArns: z.array(z.string().min(1)).min(1).max(20) });
  const lookUpRevision = (arn: string): { service: ServiceController; revision: RevisionRecord } | undefined => {
    for (const service of services.controllers.values()) {
      const revision = service.revision(arn);
      if (revision) return { service, revision };
    }
    return undefined;
  };
  return operation(schema, ({ serviceRevisionArns }) => {
    const found = serviceRevisionArns.map(lookUpRevision);
    return {
      serviceRevisions: found
        .filter((one) => one !== undefined)
        .map(({ service, revision }) => {
          const definition = services.store.taskDefinitions.get(revision.taskDefinition);
          return describeRevision(services.arns, service, revision, definition);
        }),
      failures: serviceRevisionArns.filter((_, i) => found[i] === undefined).map((arn) => ({ arn, reason: "MISSING" })),
    };
  });
}

/** The calls about service deployments and service revisions. */
export function serviceDeploymentOperations(services: Services): Record<string, Operation> {
  return {
    DescribeServiceDeployments: describe(services),
    ListServiceDeployments: list(services),
    ContinueServiceDeployment: proceed(services),
    StopServiceDeployment: stop(services),
    DescribeServiceRevisions: describeRevisions(services),
  };
}
