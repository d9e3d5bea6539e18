import { randomBytes } from "node:crypto";
import type { DeploymentRecord, HookRecord, HookStage } from "./records.ts";

/** Ends the deployment and restores the previous revision; the message is the reason. */
export class RollBack extends Error {}

const timeoutMinutes = 1440;
const timerMsMax = 2 ** 31 - 1;

function ensureHooks(deployment: DeploymentRecord, stage: HookStage, now: number): HookRecord[] {
  const known = deployment.hooks.filter((hook) => hook.stage === stage);
  if (known.length > 0) return known;
  const configured = (deployment.configuration.lifecycleHooks ?? []).filter((hook) =>
    hook.lifecycleStages.includes(stage),
  );
  const hooks = configured.map(({ timeoutConfiguration }): HookRecord => {
    const minutes = timeoutConfiguration?.timeoutInMinutes ?? timeoutMinutes;
    return {
      hookId: `ecs-pause-${randomBytes(24).toString("base64url")}`,
      stage,
      status: "AWAITING_ACTION",
      expiresAt: now + minutes * 60_000,
      timeoutAction: timeoutConfiguration?.action ?? "ROLLBACK",
    };
  });
  deployment.hooks.push(...hooks);
  return hooks;
}

export interface HookRun {
  deployment: DeploymentRecord;
  signal: AbortSignal;
  now(): number;
  /** Called when a hook starts to wait and when it has been decided. */
  onChange(): void;
  /** Resolves when ContinueServiceDeployment has decided a hook, when `signal` aborts, or after `timeoutMs`. */
  acted(timeoutMs: number): Promise<void>;
}

/** Waits for all PAUSE hooks of a stage; throws RollBack when a hook times out and its time-out action is ROLLBACK. */
export async function awaitHooks(run: HookRun, stage: HookStage): Promise<void> {
  for (const hook of ensureHooks(run.deployment, stage, run.now())) {
    if (hook.status === "AWAITING_ACTION") run.onChange();
    while (hook.status === "AWAITING_ACTION") {
      const leftMs = hook.expiresAt - run.now();
      if (leftMs > 0) {
        await run.acted(Math.min(leftMs, timerMsMax));
        run.signal.throwIfAborted();
        continue;
      }
      hook.status = "TIMED_OUT";
      run.onChange();
      if (hook.timeoutAction === "ROLLBACK") throw new RollBack(`The lifecycle hook at stage ${stage} timed out.`);
    }
  }
}
