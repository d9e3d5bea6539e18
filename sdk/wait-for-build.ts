import type { SingleBuildReply } from "../api/builds.ts";
import type { Client } from "./client-types.ts";
import { isTransient, type Sleep, sleepFor } from "./retry.ts";

export interface WaitOptions {
  /** Called with the first read, and whenever the status has changed. */
  onStatus?: (build: SingleBuildReply) => void;
  signal?: AbortSignal;
  sleep?: Sleep;
  /** Shortens the pause that the service asks for: the longest pause in seconds, by the seconds waited so far. */
  pauseSecondsMax?: (waitedSeconds: number) => number;
}

/** True if a build is final: `ready`, `error`, or canceled with any status (docs/api.md, Build states). */
export function isFinished(build: { status: string; canceledAt: string | null }): boolean {
  return build.canceledAt !== null || build.status === "ready" || build.status === "error";
}

const pollSecondsStandard = 2;
const pollSecondsMax = 60;
const failuresMax = 5;

/**
 * Reads a build as often as the service asks for (Retry-After) until it is finished, and returns it, failed and canceled builds
 * too. Rejects when the service could not be read five times in a row, although each read was repeated.
 */
export async function waitForBuild(
  client: Pick<Client, "getBuild">,
  ids: { orgId: string; projectId: string; buildId: string },
  { onStatus, signal, sleep = sleepFor, pauseSecondsMax = () => pollSecondsMax }: WaitOptions = {},
): Promise<SingleBuildReply> {
  let known: string | undefined;
  let failures = 0;
  const since = performance.now();
  while (true) {
    let seconds = pollSecondsStandard;
    try {
      const { build } = await client.getBuild(ids, {
        ...(signal && { signal }),
        onAnswer: (answer) => {
          seconds = Math.min(answer.retryAfterSeconds ?? pollSecondsStandard, pollSecondsMax);
        },
      });
      failures = 0;
      if (build.status !== known) onStatus?.(build);
      known = build.status;
      if (isFinished(build)) return build;
      seconds = Math.min(seconds, pauseSecondsMax((performance.now() - since) / 1000));
    } catch (error) {
      failures += 1;
      if (!isTransient(error) || failures >= failuresMax) throw error;
      seconds = Math.min(error.retryAfterSeconds ?? pollSecondsStandard * failures, pollSecondsMax);
    }
    await sleep(seconds, signal);
  }
}
