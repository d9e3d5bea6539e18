import { setTimeout as delay } from "node:timers/promises";
import { type EcsBehavior, pause } from "./behavior.ts";
import { awaitHooks, type HookRun } from "./hooks.ts";
import { type DeploymentRecord, isShifted, type Stage, stages } from "./records.ts";
import type { TaskSet } from "./task-set.ts";

/** The methods of a service that its deployment calls. */
export interface DeployedService {
  route: { test?: TaskSet | undefined };
  behavior: EcsBehavior;
  record: { name: string };
  taskSet(revisionArn: string): TaskSet;
  shift(deployment: DeploymentRecord, green: TaskSet): void;
  cleanUp(deployment: DeploymentRecord): void;
}

/** Enters a stage, unless the deployment reached it before a restart; throws after a rollback. */
function enter({ deployment, signal, now, onChange }: HookRun, stage: Stage): void {
  signal.throwIfAborted();
  if (stages.indexOf(stage) <= stages.indexOf(deployment.lifecycleStage)) return;
  deployment.lifecycleStage = stage;
  deployment.updatedAt = now();
  onChange();
}

async function scaleUpAndTest(run: HookRun, service: DeployedService, green: TaskSet): Promise<void> {
  const pausedBefore = run.deployment.lifecycleStage !== "PRE_SCALE_UP";
  const { behavior } = service;
  await awaitHooks(run, "PRE_SCALE_UP");
  enter(run, "SCALE_UP");
  green.start();
  if (!pausedBefore) await green.whenHealthy(run.signal);
  if (run.deployment.source === undefined) await pause(behavior.firstServiceMs, run.signal);
  await pause(behavior.registrationMs, run.signal);
  enter(run, "POST_SCALE_UP");
  await awaitHooks(run, "POST_SCALE_UP");
  await pause(behavior.stageMs, run.signal);
  enter(run, "TEST_TRAFFIC_SHIFT");
  service.route.test = green;
  await pause(behavior.stageMs, run.signal);
  enter(run, "POST_TEST_TRAFFIC_SHIFT");
  await awaitHooks(run, "POST_TEST_TRAFFIC_SHIFT");
  enter(run, "PRE_PRODUCTION_TRAFFIC_SHIFT");
  await awaitHooks(run, "PRE_PRODUCTION_TRAFFIC_SHIFT");
  // The task may have ended while the deployment was paused, so it is checked again before it gets traffic.
  await green.whenStillHealthy(run.signal);
}

/**
 * Runs all stages of a BLUE_GREEN deployment. Resolves when the target revision has the production traffic and the
 * tasks of the previous revision have started to drain; rejects with RollBack, or when the run's signal aborts.
 */
export async function runStages(run: HookRun, service: DeployedService): Promise<void> {
  const { deployment, signal } = run;
  const green = service.taskSet(deployment.target);
  if (!isShifted(deployment)) {
    await scaleUpAndTest(run, service, green);
    service.shift(deployment, green);
  }
  enter(run, "POST_PRODUCTION_TRAFFIC_SHIFT");
  await awaitHooks(run, "POST_PRODUCTION_TRAFFIC_SHIFT");
  enter(run, "BAKE_TIME");
  const { bakeTimeInMinutes } = deployment.configuration;
  if (bakeTimeInMinutes > 0) await delay(bakeTimeInMinutes * 60_000, undefined, { signal });
  enter(run, "CLEAN_UP");
  service.cleanUp(deployment);
  await service.behavior.drained(service.record.name, signal);
}
