import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type CodeBuildBehavior, kindCodeBuild } from "./behavior.ts";
import { BuildFailed, type ImageBuilder } from "./image.ts";
import { BuildQueue } from "./queue.ts";

type Status = "IN_PROGRESS" | "SUCCEEDED" | "FAILED" | "STOPPED";

/** One image build, kept only in memory: after a SIGKILL, its state machine execution starts a new one. */
export interface ImageBuildRun {
  id: string;
  stream: string;
  status: Status;
  startedAt: Date;
  endedAt?: Date;
  variables: Record<string, string>;
  exported: { name: string; value: string }[];
  abort: AbortController;
  finished: Promise<void>;
}

export interface BuildRunsOptions {
  projectName: string;
  /** The folder for running builds; emptied at the start. */
  workDir: string;
  logGroup: string;
  log(line: { logGroup: string; logStream: string; timestamp: number; message: string }): void;
  builder: ImageBuilder;
  /** Default: `kindCodeBuild`. */
  behavior?: CodeBuildBehavior | undefined;
}

export interface BuildRuns {
  find(id: string): ImageBuildRun | undefined;
  /** Starts or queues a build; a repeated token returns the build of the first call. Throws if the queue is full. */
  start(variables: Record<string, string>, token?: string): ImageBuildRun;
  /** Stops every build; resolves when all have ended. */
  stopAll(): Promise<void>;
}

/** The image builds of this process, each in a clean folder of its own. */
export async function openBuildRuns(options: BuildRunsOptions): Promise<BuildRuns> {
  await rm(options.workDir, { recursive: true, force: true });
  await mkdir(options.workDir, { recursive: true });
  const runs = new Map<string, ImageBuildRun>();
  const byToken = new Map<string, ImageBuildRun>();
  const { behavior = kindCodeBuild } = options;
  const queue = new BuildQueue(behavior);

  async function work(run: ImageBuildRun, variables: Record<string, string>): Promise<void> {
    const folder = join(options.workDir, run.stream);
    const put = (message: string) =>
      options.log({ logGroup: options.logGroup, logStream: run.stream, timestamp: Date.now(), message });
    const leave = await queue.enter(run.abort.signal);
    try {
      if (behavior.provisioningMs > 0) await delay(behavior.provisioningMs, undefined, { signal: run.abort.signal });
      await mkdir(folder, { recursive: true });
      const image = await options.builder({ id: run.id, folder, variables, put, signal: run.abort.signal });
      run.exported = Object.entries(image).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
      await ended(run, "SUCCEEDED");
    } catch (error) {
      put(
        error instanceof BuildFailed
          ? error.message
          : `The build failed: ${error instanceof Error ? error.message : String(error)}`,
      );
      await ended(run, run.abort.signal.aborted ? "STOPPED" : "FAILED");
    } finally {
      leave();
      rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  async function ended(run: ImageBuildRun, status: Status): Promise<void> {
    if (behavior.statusMs > 0) await delay(behavior.statusMs, undefined, { ref: false });
    run.status = status;
    run.endedAt = new Date();
  }

  return {
    find: (id) => runs.get(id),
    start(variables, token) {
      const known = token === undefined ? undefined : byToken.get(token);
      if (known) return known;
      queue.refuseIfFull();
      const stream = randomUUID();
      const run: ImageBuildRun = {
        id: `${options.projectName}:${stream}`,
        stream,
        status: "IN_PROGRESS",
        startedAt: new Date(),
        variables,
        exported: [],
        abort: new AbortController(),
        finished: Promise.resolve(),
      };
      run.finished = work(run, variables);
      runs.set(run.id, run);
      if (token !== undefined) byToken.set(token, run);
      return run;
    },
    async stopAll() {
      for (const run of runs.values()) run.abort.abort();
      await Promise.all([...runs.values()].map((run) => run.finished));
    },
  };
}
