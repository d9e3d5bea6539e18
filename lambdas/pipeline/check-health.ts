import { setTimeout as sleep } from "node:timers/promises";
import type * as z from "zod";
import { runOptions } from "../../api/stored-settings.ts";
import type { steps } from "../../statemachines/steps.ts";
import { taskLog } from "../aws/app-names.ts";
import type { AppReader, AppSwitch, TaskState } from "../aws/apps.ts";
import type { BuildValues } from "../aws/build-values.ts";
import type { LogReader } from "../aws/logs.ts";
import type { DeploymentState, Rollouts } from "../aws/rollouts.ts";
import { buildMask } from "../builds/model/build-mask.ts";
import { Build, type BuildRow, RedeployableBuilds } from "../builds/model/rows.ts";
import { BuildCanceled, step } from "../http/step.ts";
import type { TableReader } from "../table/reader.ts";
import type { TableWriter } from "../table/writer.ts";
import { detectedSentence } from "./model/failures.ts";
import {
  answerWarning,
  exitReason,
  isHealthyAnswer,
  listeningPlace,
  loopbackReason,
  loopbackSeconds,
  type Probe,
  startSeconds,
  unhealthyReason,
  withOutput,
} from "./model/health.ts";
import { setOnBuild } from "./model/set-on-build.ts";

interface Tools {
  table: TableReader & TableWriter;
  apps: AppReader;
  rollouts: Rollouts;
  traffic: AppSwitch;
  logs: LogReader;
  values: BuildValues;
}
interface Watch {
  build: BuildRow;
  /** The project's newest successful builds, which only the owner of its lock changes. */
  successes: readonly string[];
  since: Date;
  lastProbe: Probe | undefined;
  /** When the stopped tasks were last read, in milliseconds. */
  exitsSeenAt: number;
  /** When the place at which the app listens was last checked, in milliseconds. */
  placeSeenAt: number;
}
type Verdict = z.input<(typeof steps)["check-health"]["output"]>;

/** The time of one invocation; then the state machine invokes the function again. */
const lookSeconds = 20;
/** A process is ready at once, a container in half a second, on AWS in many seconds; ECS allows 20 of these calls a second per account. */
function pauseMs(ageMs: number): number {
  if (ageMs < 100) return Math.max(ageMs / 20, 4);
  return ageMs < 2_000 ? ageMs / 10 : Math.min(ageMs / 3, 1_000);
}
/** The time between two reads of the stopped tasks while a task runs. */
const exitsEveryMs = 1_000;
/** Most apps are healthy before this; ECS allows few reads of events, so they are rare. */
const earlySeconds = 3;
const placeEveryMs = 5_000;

const pathOf = (build: BuildRow) => runOptions(build.settings).healthPath;

const waiting: Verdict = { verdict: "waiting", reason: null, ready: null };
const movedStages = ["POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP"];

function isMoved({ status, stage }: DeploymentState): boolean {
  return status === "SUCCESSFUL" || (status === "IN_PROGRESS" && movedStages.includes(stage ?? ""));
}

const msSince = (time: Date) => Date.now() - time.getTime();
const secondsSince = (time: Date) => msSince(time) / 1000;

/** The last output of the version that failed, with the build's variables masked. */
async function lastOutput({ build }: Watch, task: TaskState | undefined, tools: Tools): Promise<string[]> {
  if (!task) return [];
  const { projectId, id } = build;
  const stream = taskLog({ projectId, buildId: id, taskId: task.id });
  const [lines, mask] = await Promise.all([
    tools.logs.tail("app", stream, 20),
    buildMask({ projectId, id }, tools),
    setOnBuild(tools.table, build, { appLog: stream }),
  ]);
  return lines.map((line) => mask(line.text));
}

async function unhealthy(
  watch: Watch,
  task: TaskState | undefined,
  tools: Tools,
  reason: (output: string[]) => string,
): Promise<Verdict> {
  const output = await lastOutput(watch, task, tools);
  return {
    verdict: "unhealthy",
    reason: withOutput(reason(output), output, detectedSentence(watch.build)),
    ready: null,
  };
}

/** A process that exits fails at once (docs/api.md, Health check). */
async function checkExit(watch: Watch, tools: Tools): Promise<Verdict> {
  const tasks = await tools.traffic.tasks(watch.build.id, "STOPPED");
  // The first that ended: ECS documents no order.
  const [stopped] = tasks.toSorted((one, other) => (one.stoppedAt?.getTime() ?? 0) - (other.stoppedAt?.getTime() ?? 0));
  if (!stopped) return waiting;
  const { startedAt, stoppedAt, exitCode: code, reason, isOutOfMemory } = stopped;
  const memory = isOutOfMemory ? runOptions(watch.build.settings).memory : undefined;
  const afterSeconds = startedAt && stoppedAt ? (stoppedAt.getTime() - startedAt.getTime()) / 1000 : undefined;
  return unhealthy(watch, stopped, tools, () => exitReason({ code, reason, afterSeconds, memory }));
}

/**
 * Some seconds after its start, an app that cannot be reached is reported early: its output is shown in the build's log, and
 * an app that listens on its port at a loopback address fails. An app that listens only on other ports may start slowly and
 * have a debugger or metrics there, so it gets the whole time.
 */
async function checkListening(watch: Watch, tools: Tools): Promise<Verdict> {
  const now = Date.now();
  if (secondsSince(watch.since) < earlySeconds || now - watch.placeSeenAt < placeEveryMs) return waiting;
  watch.placeSeenAt = now;
  const { build } = watch;
  const [[task], events] = await Promise.all([
    tools.traffic.tasks(build.id, "RUNNING"),
    tools.traffic.events(build.projectId, watch.since),
  ]);
  if (!task?.startedAt) return waiting;
  if (build.appLog === undefined) {
    const { projectId, id } = build;
    const appLog = taskLog({ projectId, buildId: id, taskId: task.id });
    build.appLog = appLog;
    await setOnBuild(tools.table, build, { appLog });
  }
  const place = listeningPlace(events);
  if (!place || !("loopback" in place) || secondsSince(task.startedAt) < loopbackSeconds) return waiting;
  return unhealthy(watch, task, tools, () => loopbackReason(place.loopback));
}

/**
 * The time for a healthy answer counts from the moment the hook is open: until then a target is registered and the gateway
 * prepared, which can take minutes on AWS. Before it, "is unhealthy" events and a limit of ten minutes decide.
 */
async function checkTime(watch: Watch, hook: DeploymentState["hook"], tools: Tools): Promise<Verdict> {
  const { lastProbe: probe, build } = watch;
  const healthySeconds = build.settings?.healthTimeoutSeconds ?? tools.traffic.healthTimeoutSeconds;
  const openSeconds = hook && secondsSince(hook.openedAt ?? watch.since);
  if (openSeconds === undefined ? secondsSince(watch.since) < healthySeconds : openSeconds < healthySeconds) {
    return checkListening(watch, tools);
  }
  const [task] = await tools.traffic.tasks(build.id, "RUNNING");
  const isLate = secondsSince(watch.since) >= startSeconds;
  if (!task?.startedAt) {
    if (!isLate) return waiting;
    const reason = `no task was running after ${startSeconds / 60} minutes`;
    return unhealthy(watch, task, tools, () => exitReason({ code: undefined, reason, afterSeconds: undefined }));
  }
  const events = await tools.traffic.events(build.projectId, watch.since);
  const isFound = events.some((event) => event.includes("is unhealthy"));
  const runsLong = secondsSince(task.startedAt) >= healthySeconds;
  if (hook === undefined && !isLate && !(isFound && runsLong)) return waiting;
  return unhealthy(watch, task, tools, (output) =>
    unhealthyReason({ probe, events, output, port: build.port ?? 8080, path: pathOf(build) }),
  );
}

async function rolledBack(watch: Watch, deployment: DeploymentState, tools: Tools): Promise<Verdict> {
  const [task] = await tools.traffic.tasks(watch.build.id, "STOPPED");
  const reason = deployment.reason ?? "it gave no reason";
  return unhealthy(watch, task, tools, () => `ECS ended the deployment by itself: ${reason}.`);
}

/** The traffic shift is confirmed; the answer of the new version decides whether there is a warning. */
async function confirmed(watch: Watch, address: string, tools: Tools): Promise<Verdict> {
  const { build, lastProbe, successes } = watch;
  const [answer, [task]] = await Promise.all([
    // Another invocation may have got the answer after which the traffic moved.
    lastProbe && isHealthyAnswer(lastProbe) ? lastProbe : tools.traffic.probe(address, "public", pathOf(build)),
    tools.traffic.runningTasks(build.id),
  ]);
  const warning = [build.warning, answerWarning(answer, pathOf(build))].filter(Boolean).join("\n") || null;
  const { projectId, id: buildId } = build;
  const appLog = task === undefined ? null : taskLog({ projectId, buildId, taskId: task });
  return { verdict: "healthy", reason: null, ready: { warning, appLog, successes: [...successes] } };
}

/** Reads the deployment once; `undefined` if it was changed and should be read again at once. */
async function look(watch: Watch, arn: string, url: string | null, tools: Tools): Promise<Verdict | undefined> {
  const state = await tools.rollouts.deployment(arn);
  // ECS describes a new deployment late.
  if (!state) return waiting;
  if (/^(STOP|ROLLBACK)/.test(state.status)) return rolledBack(watch, state, tools);
  const address = url ?? (await tools.apps.address(watch.build.projectId));
  if (address !== undefined && isMoved(state)) return confirmed(watch, address, tools);
  if (address !== undefined && state.hook) {
    watch.lastProbe = await tools.traffic.probe(address, "new", pathOf(watch.build));
    if (isHealthyAnswer(watch.lastProbe)) {
      const isAccepted = await tools.traffic.answer(arn, state.hook.id, "CONTINUE");
      return isAccepted ? undefined : waiting;
    }
  }
  if (state.running === 0 || Date.now() - watch.exitsSeenAt >= exitsEveryMs) {
    watch.exitsSeenAt = Date.now();
    const exit = await checkExit(watch, tools);
    if (exit.verdict !== "waiting") return exit;
  }
  return checkTime(watch, state.hook, tools);
}

/**
 * Watches the new version start beside the old one, probes it through the gateway's test route, moves the traffic when it
 * answers, and returns `healthy` only when ECS confirms the move (docs/architecture.md, A build's path).
 */
export const handler = step("check-health", async ({ deployment, deployed }, tools) => {
  const { projectId, buildId } = deployment;
  const { build, redeployable } = await tools.table.read({
    build: Build.at({ projectId, id: buildId }),
    redeployable: RedeployableBuilds.at({ projectId }),
  });
  if (build?.status !== "deploying") throw new BuildCanceled();
  const watch: Watch = {
    build,
    successes: redeployable?.buildIds ?? [],
    since: new Date(deployed.since),
    lastProbe: undefined,
    exitsSeenAt: 0,
    placeSeenAt: 0,
  };
  const until = Date.now() + lookSeconds * 1000;
  while (Date.now() < until) {
    const verdict = await look(watch, deployed.serviceDeploymentArn, deployed.url, tools);
    if (verdict && verdict.verdict !== "waiting") return verdict;
    // After the traffic was moved, the deployment is read again at once.
    if (verdict) await sleep(pauseMs(msSince(watch.since)));
  }
  return waiting;
});
