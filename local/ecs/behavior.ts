import { setTimeout as delay } from "node:timers/promises";
import type { DeploymentRecord } from "./records.ts";

/**
 * The delays and refusals that the embedded ECS simulates. `kindEcs` has none; `cloudEcs` has those that AWS documents,
 * with short times, so that a scenario of minutes takes seconds.
 */
export interface EcsBehavior {
  /** The time from a task's creation to the start of its process: placement and image pull. */
  placementMs: number;
  /** The time from a healthy task to the end of SCALE_UP: registration as a target. */
  registrationMs: number;
  /** The time of each stage between SCALE_UP and the traffic shift. */
  stageMs: number;
  /** The additional time of a service's first deployment: creation of load balancer and certificate. */
  firstServiceMs: number;
  /** Resolves when the old revision of a service is drained after the traffic shift; the deployment is in progress until then. */
  drained(serviceName: string, signal: AbortSignal): Promise<void>;
  /** The time for which services and lists of deployments still show the state before a change. */
  staleMs: number;
  /** Whether a deployment without an earlier revision cannot be stopped or rolled back. */
  refusesRollbackToNothing: boolean;
  /** Whether a service cannot be changed while its deployment is in progress. */
  refusesChangeInProgress: boolean;
  /** The order in which deployments are listed, which AWS does not document. */
  order(deployments: readonly DeploymentRecord[]): DeploymentRecord[];
  /** Resolves when a deleted service is no longer DRAINING; its name cannot be used until then. */
  deleted(): Promise<void>;
  /** The time between two measurements of the memory and the processor time of tasks. */
  measureEveryMs: number;
}

export const kindEcs: EcsBehavior = {
  placementMs: 0,
  registrationMs: 0,
  stageMs: 0,
  firstServiceMs: 0,
  drained: async () => {},
  staleMs: 0,
  refusesRollbackToNothing: false,
  refusesChangeInProgress: false,
  order: (deployments) => [...deployments],
  deleted: async () => {},
  measureEveryMs: 5_000,
};

export const cloudEcs: EcsBehavior = {
  placementMs: 400,
  registrationMs: 400,
  stageMs: 200,
  firstServiceMs: 1_500,
  drained: (_, signal) => pause(3_000, signal),
  staleMs: 1_000,
  refusesRollbackToNothing: true,
  refusesChangeInProgress: true,
  order: (deployments) => [...deployments].reverse(),
  deleted: () => pause(1_500),
  measureEveryMs: 5_000,
};

/** Waits `ms`; with 0 it does not yield to the event loop, so that `kindEcs` costs nothing. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { ...(signal && { signal }), ref: false });
}
