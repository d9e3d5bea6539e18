import { setTimeout as delay } from "node:timers/promises";
import { type EngineApi, EngineGone } from "./engine-api.ts";

const pollMsMin = 100;
const pollMsMax = 1_000;

export interface EngineWatch {
  /** Notes that a call failed because the engine does not answer, and returns the error. */
  note(error: unknown): unknown;
  /** Resolves when the engine answers; rejects when the signal aborts. */
  answering(signal: AbortSignal): Promise<void>;
  /** Resolves when an engine that was away answers again; never resolves if it is not away. */
  back(signal: AbortSignal): Promise<void>;
}

/** Tracks whether the engine answers. */
export function createEngineWatch(api: EngineApi): EngineWatch {
  let isAway = false;

  async function answering(signal: AbortSignal): Promise<void> {
    for (let pauseMs = pollMsMin; ; pauseMs = Math.min(pauseMs * 1.5, pollMsMax)) {
      try {
        await api.perform("GET", "/containers/json", { query: { limit: 1 }, signal });
        isAway = false;
        return;
      } catch {
        await delay(pauseMs, undefined, { signal });
      }
    }
  }

  return {
    answering,
    note(error) {
      if (error instanceof EngineGone) isAway = true;
      return error;
    },
    back(signal) {
      return isAway ? answering(signal) : new Promise(() => {});
    },
  };
}
