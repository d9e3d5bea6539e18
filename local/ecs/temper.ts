import { setTimeout as delay } from "node:timers/promises";
import type { DeploymentRecord } from "./records.ts";

/**
 * How far the embedded ECS behaves as badly as AWS documents. `kindTemper` is as fast as the machine allows; `cloudTemper`
 * has every stage, delay and refusal of AWS in small numbers, so that a scenario of minutes takes seconds.
 */
export interface EcsTemper {
  /** From a task's creation to its process: finding a place for it and pulling its image. */
  placementMs: number;
  /** From a healthy task to the end of SCALE_UP: registering it as a target. */
  registrationMs: number;
  /** How long each stage between SCALE_UP and the traffic's move takes. */
  stageMs: number;
  /** Added to the first deployment of a service: its load balancer and certificate are made. */
  firstServiceMs: number;
  /** How long the old version is drained after the traffic has moved; the deployment is in progress until then. */
  drainMs: number;
  /** How long services and lists of deployments are described as they were before a change. */
  staleMs: number;
  /** Whether a deployment without an earlier revision refuses to be stopped or rolled back. */
  refusesRollbackToNothing: boolean;
  /** Whether a service whose deployment is in progress refuses to be changed. */
  refusesChangeInProgress: boolean;
  /** The order in which deployments are listed, which AWS does not document. */
  order(deployments: readonly DeploymentRecord[]): DeploymentRecord[];
  /** Whether this call is throttled. */
  throttles(call: string): boolean;
}

export const kindTemper: EcsTemper = {
  placementMs: 0,
  registrationMs: 0,
  stageMs: 0,
  firstServiceMs: 0,
  drainMs: 0,
  staleMs: 0,
  refusesRollbackToNothing: false,
  refusesChangeInProgress: false,
  order: (deployments) => [...deployments],
  throttles: () => false,
};

export const cloudTemper: EcsTemper = {
  placementMs: 400,
  registrationMs: 400,
  stageMs: 200,
  firstServiceMs: 1_500,
  drainMs: 3_000,
  staleMs: 1_000,
  refusesRollbackToNothing: true,
  refusesChangeInProgress: true,
  order: (deployments) => [...deployments].reverse(),
  throttles: () => false,
};

/** Waits unless there is nothing to wait for, so that the kind temper costs no turn of the event loop. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { ...(signal && { signal }), ref: false });
}
