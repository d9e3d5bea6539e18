import * as z from "zod";
import { AwsError, epochSeconds, type Operation, operation } from "../aws/service.ts";
import type { BuildRuns, ImageBuildRun } from "./store.ts";

const variable = z.object({ name: z.string(), value: z.string(), type: z.string().optional() });
const startInput = z.object({
  projectName: z.string(),
  idempotencyToken: z.string().optional(),
  environmentVariablesOverride: z.array(variable).default([]),
});

/** The one project of the local CodeBuild. */
export interface Project {
  name: string;
  region: string;
  logGroup: string;
}

/** A build as BatchGetBuilds returns it. */
export function describeRun({ name, region, logGroup }: Project, run: ImageBuildRun) {
  return {
    id: run.id,
    arn: `arn:aws:codebuild:${region}:000000000000:build/${run.id}`,
    projectName: name,
    buildStatus: run.status,
    buildComplete: run.endedAt !== undefined,
    startTime: epochSeconds(run.startedAt),
    ...(run.endedAt && { endTime: epochSeconds(run.endedAt) }),
    environment: {
      environmentVariables: Object.entries(run.variables).map(([name, value]) => ({ name, value, type: "PLAINTEXT" })),
    },
    logs: { groupName: logGroup, streamName: run.stream },
    exportedEnvironmentVariables: run.exported,
  };
}

/** StartBuild, BatchGetBuilds, StopBuild. */
export function codeBuildOperations(project: Project, runs: BuildRuns): Record<string, Operation> {
  return {
    StartBuild: operation(startInput, (input) => {
      if (input.projectName !== project.name) {
        throw new AwsError("ResourceNotFoundException", `Project cannot be found: ${input.projectName}`);
      }
      const variables = input.environmentVariablesOverride.map(({ name, value }) => [name, value]);
      return { build: describeRun(project, runs.start(Object.fromEntries(variables), input.idempotencyToken)) };
    }),
    BatchGetBuilds: operation(z.object({ ids: z.array(z.string()) }), ({ ids }) => {
      const found = ids.flatMap((id) => runs.find(id) ?? []);
      return {
        builds: found.map((run) => describeRun(project, run)),
        buildsNotFound: ids.filter((id) => !runs.find(id)),
      };
    }),
    StopBuild: operation(z.object({ id: z.string() }), async ({ id }) => {
      const run = runs.find(id);
      if (!run) throw new AwsError("ResourceNotFoundException", `Build cannot be found: ${id}`);
      run.abort.abort();
      await run.finished;
      return { build: describeRun(project, run) };
    }),
  };
}
