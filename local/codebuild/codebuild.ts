import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { AwsError, epochSeconds, type JsonService, operation } from "../aws/service.ts";
import { BuildFailed, type ImageBuilder } from "./image.ts";

const variable = z.object({ name: z.string(), value: z.string(), type: z.string().optional() });
const startInput = z.object({
  projectName: z.string(),
  idempotencyToken: z.string().optional(),
  environmentVariablesOverride: z.array(variable).default([]),
});

type Status = "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "STOPPED";

interface Run {
  id: string;
  stream: string;
  status: Status;
  startedAt: Date;
  endedAt?: Date;
  exported: { name: string; value: string }[];
  abort: AbortController;
  finished: Promise<void>;
}

export interface CodeBuild {
  service: JsonService;
  /** Resolves with the build, as BatchGetBuilds gives it, when it is over; an abort stops it. */
  finished(id: string, signal: AbortSignal): Promise<{ buildStatus?: string }>;
  close(): Promise<void>;
}

export interface CodeBuildOptions {
  projectName: string;
  region: string;
  /** Folder for the work of running builds; emptied at the start. */
  workDir: string;
  logGroup: string;
  log(line: { logGroup: string; logStream: string; timestamp: number; message: string }): void;
  builder: ImageBuilder;
}

/** The local CodeBuild: runs the plan of one image build in a clean folder, with the runtime's own Node.js or Python. */
export async function createCodeBuild(options: CodeBuildOptions): Promise<CodeBuild> {
  await rm(options.workDir, { recursive: true, force: true });
  await mkdir(options.workDir, { recursive: true });
  const runs = new Map<string, Run>();
  const byToken = new Map<string, Run>();

  async function work(run: Run, variables: Record<string, string>): Promise<void> {
    const folder = join(options.workDir, run.stream);
    const put = (message: string) =>
      options.log({ logGroup: options.logGroup, logStream: run.stream, timestamp: Date.now(), message });
    try {
      await mkdir(folder, { recursive: true });
      const image = await options.builder({ folder, variables, put, signal: run.abort.signal });
      run.exported = Object.entries(image).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
      run.status = "SUCCEEDED";
    } catch (error) {
      run.status = run.abort.signal.aborted ? "STOPPED" : "FAILED";
      put(
        error instanceof BuildFailed
          ? error.message
          : `The build broke: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      run.endedAt = new Date();
      rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  function describe(run: Run) {
    return {
      id: run.id,
      arn: `arn:aws:codebuild:${options.region}:000000000000:build/${run.id}`,
      projectName: options.projectName,
      buildStatus: run.status,
      buildComplete: run.endedAt !== undefined,
      startTime: epochSeconds(run.startedAt),
      ...(run.endedAt && { endTime: epochSeconds(run.endedAt) }),
      logs: { groupName: options.logGroup, streamName: run.stream },
      exportedEnvironmentVariables: run.exported,
    };
  }

  const startBuild = operation(startInput, (input) => {
    if (input.projectName !== options.projectName) {
      throw new AwsError("ResourceNotFoundException", `Project cannot be found: ${input.projectName}`);
    }
    const known = input.idempotencyToken === undefined ? undefined : byToken.get(input.idempotencyToken);
    if (known) return { build: describe(known) };
    const stream = randomUUID();
    const run: Run = {
      id: `${options.projectName}:${stream}`,
      stream,
      status: "IN_PROGRESS",
      startedAt: new Date(),
      exported: [],
      abort: new AbortController(),
      finished: Promise.resolve(),
    };
    run.finished = work(
      run,
      Object.fromEntries(input.environmentVariablesOverride.map(({ name, value }) => [name, value])),
    );
    runs.set(run.id, run);
    if (input.idempotencyToken !== undefined) byToken.set(input.idempotencyToken, run);
    return { build: describe(run) };
  });

  const batchGetBuilds = operation(z.object({ ids: z.array(z.string()) }), ({ ids }) => {
    const found = ids.flatMap((id) => runs.get(id) ?? []);
    return { builds: found.map(describe), buildsNotFound: ids.filter((id) => !runs.has(id)) };
  });

  const stopBuild = operation(z.object({ id: z.string() }), async ({ id }) => {
    const run = runs.get(id);
    if (!run) throw new AwsError("ResourceNotFoundException", `Build cannot be found: ${id}`);
    run.abort.abort();
    await run.finished;
    return { build: describe(run) };
  });

  return {
    service: {
      target: "CodeBuild_20161006",
      operations: { StartBuild: startBuild, BatchGetBuilds: batchGetBuilds, StopBuild: stopBuild },
    },
    async finished(id, signal) {
      const run = runs.get(id);
      if (!run) return {};
      const stop = () => run.abort.abort();
      signal.addEventListener("abort", stop, { once: true });
      await run.finished;
      signal.removeEventListener("abort", stop);
      return describe(run);
    },
    async close() {
      for (const run of runs.values()) run.abort.abort();
      await Promise.all([...runs.values()].map((run) => run.finished));
    },
  };
}
