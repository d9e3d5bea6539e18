import { setTimeout as sleep } from "node:timers/promises";
import { runOptions } from "../../api/stored-settings.ts";
import { releaseLog } from "../aws/app-names.ts";
import type { AppRunner, CommandTask } from "../aws/app-runner.ts";
import type { LogReader } from "../aws/logs.ts";
import { buildMask } from "../builds/model/build-mask.ts";
import { Build, type BuildRow, RedeployableBuilds } from "../builds/model/rows.ts";
import { BuildCanceled, BuildRejected, step } from "../http/step.ts";
import type { TableWriter } from "../table/writer.ts";
import { withOutput } from "./model/health.ts";
import { setOnBuild } from "./model/set-on-build.ts";
import { startDeploying } from "./model/start-deploying.ts";

/** How long ECS may take to start its task. */
const startSeconds = 600;
/** The time of one invocation; then the state machine invokes the function again. */
const lookSeconds = 20;
const linesShown = 20;

/** Starts the task; the build's id as token lets a repeated call find the task of the first. */
async function start(build: BuildRow, command: string, runner: AppRunner, table: TableWriter): Promise<string> {
  const { projectId, id, releaseDefinition: taskDefinition = "" } = build;
  const task = await runner.run({ projectId, taskDefinition, command, token: id });
  const set = {
    releaseTask: task.id,
    releaseLog: releaseLog({ projectId, buildId: id, taskId: task.id }),
    releasedAt: new Date().toISOString(),
  };
  await setOnBuild(table, build, set);
  Object.assign(build, set);
  return task.id;
}

const ageSeconds = (since: string | Date) => (Date.now() - new Date(since).getTime()) / 1000;

/** Why the release has failed; undefined while it runs or when it has succeeded. */
function failureOf(
  task: CommandTask | undefined,
  releasedAt: string,
  limits: { memory: number; timeoutSeconds: number },
): string | undefined {
  if (task?.stopped) {
    if (task.exitCode === 0) return undefined;
    if (task.isOutOfMemory) return `used more than its ${limits.memory} MiB of memory and was killed`;
    if (task.exitCode !== undefined) return `ended with exit code ${task.exitCode}`;
    return `did not end by itself: ${task.reason ?? "ECS gave no reason"}`;
  }
  if (task?.startedAt) {
    const { timeoutSeconds } = limits;
    const limit = timeoutSeconds < 120 ? `${timeoutSeconds} seconds` : `${timeoutSeconds / 60} minutes`;
    return ageSeconds(task.startedAt) > timeoutSeconds ? `took longer than ${limit}` : undefined;
  }
  return ageSeconds(releasedAt) > startSeconds ? "could not be started within 10 minutes" : undefined;
}

async function rejection(
  build: BuildRow,
  why: string,
  tools: { logs: LogReader } & Parameters<typeof buildMask>[1],
): Promise<BuildRejected> {
  const [lines, mask] = await Promise.all([
    tools.logs.tail("app", build.releaseLog ?? "", linesShown),
    buildMask(build, tools),
  ]);
  const kept = build.previous ? "the previous version keeps serving" : "nothing was deployed";
  const output = lines.map(({ text }) => mask(text));
  return new BuildRejected(withOutput(`The release command ${why}, so ${kept}.`, output, null, "The command"));
}

/**
 * Runs the build's release command in the new image, once, before any new instance starts. From here on the build is
 * `deploying`, so it can no longer be canceled (docs/api.md, Release command).
 */
export const handler = step("release", async ({ deployment, image }, tools) => {
  const { table, runner } = tools;
  const { projectId, buildId } = deployment;
  const stored = await table.read({
    build: Build.at({ projectId, id: buildId }),
    redeployable: RedeployableBuilds.at({ projectId }),
  });
  const newestReady = stored.redeployable?.buildIds[0];
  const { build } = await startDeploying(deployment, { ...stored, newestReady }, image, tools);
  const command = build?.settings?.releaseCommand;
  if (!build || !command) throw new BuildCanceled();
  const id = build.releaseTask ?? (await start(build, command, runner, table));
  const until = Date.now() + lookSeconds * 1000;
  for (let pauseMs = 20; Date.now() < until; pauseMs = Math.min(pauseMs * 1.5, 1_000)) {
    const task = await runner.task(id);
    const limits = { memory: runOptions(build.settings).memory, timeoutSeconds: runner.timeoutSeconds };
    const why = failureOf(task, build.releasedAt ?? new Date().toISOString(), limits);
    if (why !== undefined) {
      if (!task?.stopped) await runner.stop(id, `The release command ${why}.`);
      throw await rejection(build, why, tools);
    }
    if (task?.stopped) return { done: true };
    await sleep(pauseMs);
  }
  return { done: false };
});
