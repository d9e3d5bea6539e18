import type { JsonService } from "../aws/service.ts";
import { codeBuildOperations, describeRun } from "./operations.ts";
import { type BuildRunsOptions, openBuildRuns } from "./store.ts";

export interface CodeBuild {
  service: JsonService;
  /** Resolves with the build, as BatchGetBuilds returns it, when it has ended; an abort stops the build. */
  finished(id: string, signal: AbortSignal): Promise<{ buildStatus?: string }>;
  close(): Promise<void>;
}

export interface CodeBuildOptions extends BuildRunsOptions {
  region: string;
}

/** The local CodeBuild. Each build runs in a clean folder with Node.js or Python of this machine. */
export async function createCodeBuild(options: CodeBuildOptions): Promise<CodeBuild> {
  const project = { name: options.projectName, region: options.region, logGroup: options.logGroup };
  const runs = await openBuildRuns(options);
  return {
    service: { target: "CodeBuild_20161006", operations: codeBuildOperations(project, runs) },
    async finished(id, signal) {
      const run = runs.find(id);
      if (!run) return {};
      const stop = () => run.abort.abort();
      signal.addEventListener("abort", stop, { once: true });
      await run.finished;
      signal.removeEventListener("abort", stop);
      return describeRun(project, run);
    },
    close: () => runs.stopAll(),
  };
}
