import { setTimeout as sleep } from "node:timers/promises";
import { limits } from "../../api/limits.ts";
import { Build, type BuildRow, Variable } from "../data/rows.ts";
import type { TableReader, TableWriter } from "../data/table.ts";
import {
  answerWarning,
  exitReason,
  healthySeconds,
  isHealthyAnswer,
  type Probe,
  startSeconds,
  unhealthyReason,
  withOutput,
} from "../domain/health.ts";
import { masker } from "../domain/mask.ts";
import { BuildCanceled, step } from "../kit/step.ts";
import { type AppReader, type AppSwitch, type DeploymentState, type TaskState, taskLog } from "../kit/tools/apps.ts";
import type { LogReader } from "../kit/tools/logs.ts";

interface Tools {
  table: TableReader & TableWriter;
  apps: AppReader;
  traffic: AppSwitch;
  logs: LogReader;
}
interface Watch {
  build: BuildRow;
  taskDefinition: string;
  since: Date;
}
type Verdict = { verdict: "waiting" | "healthy" | "unhealthy"; reason: string | null };

/** One invocation looks for this long; the state machine invokes again. */
const lookSeconds = 20;
const pause = { firstMs: 20, mostMs: 1_000 };

const waiting: Verdict = { verdict: "waiting", reason: null };
const movedStages = ["POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP"];

function isMoved(deployment: DeploymentState): boolean {
  return (
    deployment.status === "SUCCESSFUL" ||
    (deployment.status === "IN_PROGRESS" && movedStages.includes(deployment.stage ?? ""))
  );
}

/** The last output of the version that failed, with the project's variables masked. */
async function lastOutput(watch: Watch, task: TaskState | undefined, tools: Tools): Promise<string[]> {
  if (!task) return [];
  const { projectId, id } = watch.build;
  const stream = taskLog(task.id);
  const [lines, variables] = await Promise.all([
    tools.logs.tail("app", stream, 20),
    tools.table.query({ pk: `PRJ#${projectId}`, prefix: "ENV#", limit: limits.variablesPerProjectMax }),
    tools.table.write([Build.update({ projectId, id }, { set: { appLog: stream } })]),
  ]);
  const mask = masker(variables.items.map((item) => Variable.read(item).value));
  return lines.map((line) => mask(line.text));
}

async function unhealthy(
  watch: Watch,
  reason: (output: string[]) => string,
  tasks: TaskState[],
  tools: Tools,
): Promise<Verdict> {
  const task = tasks.find((one) => one.stopped) ?? tasks[0];
  const output = await lastOutput(watch, task, tools);
  return { verdict: "unhealthy", reason: withOutput(reason(output), output) };
}

/** Whether the new version's tasks rule out that it becomes healthy. */
async function judgeTasks(watch: Watch, tools: Tools, now: Date, lastProbe: Probe | undefined): Promise<Verdict> {
  const tasks = await tools.traffic.tasks(watch.build.projectId, watch.taskDefinition);
  const stopped = tasks.find((task) => task.stopped);
  if (stopped) {
    const afterSeconds =
      stopped.startedAt && stopped.stoppedAt
        ? (stopped.stoppedAt.getTime() - stopped.startedAt.getTime()) / 1000
        : undefined;
    return unhealthy(
      watch,
      () => exitReason({ code: stopped.exitCode, reason: stopped.reason, afterSeconds }),
      tasks,
      tools,
    );
  }
  const startedAt = tasks.map((task) => task.startedAt?.getTime() ?? Number.NaN).find((time) => !Number.isNaN(time));
  const secondsSince = (time: number) => (now.getTime() - time) / 1000;
  if (startedAt === undefined) {
    if (secondsSince(watch.since.getTime()) < startSeconds) return waiting;
    return unhealthy(
      watch,
      () => exitReason({ code: undefined, reason: "no task was running after ten minutes", afterSeconds: undefined }),
      tasks,
      tools,
    );
  }
  if (secondsSince(startedAt) < healthySeconds) return waiting;
  const events = await tools.traffic.events(watch.build.projectId, watch.since);
  const port = watch.build.port ?? 8080;
  return unhealthy(watch, (output) => unhealthyReason({ probe: lastProbe, events, output, port }), tasks, tools);
}

async function rolledBack(watch: Watch, deployment: DeploymentState, tools: Tools): Promise<Verdict> {
  const tasks = await tools.traffic.tasks(watch.build.projectId, watch.taskDefinition);
  const reason = deployment.reason ?? "it gave no reason";
  return unhealthy(watch, () => `The container service ended the deployment by itself: ${reason}.`, tasks, tools);
}

/** What a healthy version's answers mean: confirmed by one look at the address that the public uses. */
async function confirmed(watch: Watch, address: string, tools: Tools): Promise<Verdict> {
  const tasks = await tools.traffic.tasks(watch.build.projectId, watch.taskDefinition);
  const task = tasks.find((one) => !one.stopped);
  const { projectId, id } = watch.build;
  if (task) await tools.table.write([Build.update({ projectId, id }, { set: { appLog: taskLog(task.id) } })]);
  return { verdict: "healthy", reason: answerWarning(await tools.traffic.probe(address, "public")) };
}

/**
 * Watches the new version start beside the old one, probes it through the gateway's test route, lets the traffic move
 * when it answers, and says `healthy` only when the container service confirms the move (DESIGN §5).
 */
export const handler = step("check-health", async ({ deployment, deployed }, tools) => {
  const { projectId, buildId } = deployment;
  const [item] = await tools.table.get([Build.key({ projectId, id: buildId })]);
  const build = Build.maybe(item);
  if (build?.status !== "deploying" || !build.taskDefinition) throw new BuildCanceled();
  const watch: Watch = { build, taskDefinition: build.taskDefinition, since: new Date(deployed.since) };
  const until = Date.now() + lookSeconds * 1000;
  let pauseMs = pause.firstMs;
  let lastProbe: Probe | undefined;
  while (Date.now() < until) {
    const state = await tools.traffic.deployment(deployed.serviceDeploymentArn);
    if (!state) throw new Error("The deployment is not known to the container service");
    const address = await tools.apps.address(projectId);
    if (isMoved(state) && address) return confirmed(watch, address, tools);
    if (/^(STOP|ROLLBACK)/.test(state.status)) return rolledBack(watch, state, tools);
    if (state.hookId && address) {
      lastProbe = await tools.traffic.probe(address, "new");
      if (isHealthyAnswer(lastProbe)) {
        await tools.traffic.answer(state, "CONTINUE");
        pauseMs = pause.firstMs;
        continue;
      }
    }
    const verdict = await judgeTasks(watch, tools, new Date(), lastProbe);
    if (verdict.verdict !== "waiting") return verdict;
    await sleep(pauseMs);
    pauseMs = Math.min(pauseMs * 2, pause.mostMs);
  }
  return waiting;
});
