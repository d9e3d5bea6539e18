import { SlipwayError } from "./errors.ts";

/** Waits; rejects with the signal's reason when it is aborted. */
export type Sleep = (seconds: number, signal?: AbortSignal) => Promise<void>;

export const sleepFor: Sleep = (seconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** Seconds of a Retry-After header, which holds seconds or a date (RFC 9110 §10.2.3); undefined for anything else. */
export function parseRetryAfter(value: string | null | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = /[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}

const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** True for errors after which the same request may succeed: no response, too many requests, a service that is briefly unavailable. */
export function isTransient(error: unknown): error is SlipwayError {
  if (!(error instanceof SlipwayError)) return false;
  return error.status === undefined
    ? error.code === "network" || error.code === "timeout"
    : transientStatuses.has(error.status);
}

const backOffSecondsMax = 5;
const retryAfterSecondsMax = 30;

/** How long to wait before attempt `attempt + 1` (from 1), or undefined if the requested wait is too long. */
export function retryDelaySeconds(error: SlipwayError, attempt: number, random = Math.random): number | undefined {
  const asked = error.retryAfterSeconds;
  if (asked !== undefined) return asked <= retryAfterSecondsMax ? asked : undefined;
  return Math.min(backOffSecondsMax, 0.2 * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}

interface RetryOptions {
  attemptsMax: number;
  sleep: Sleep;
  signal?: AbortSignal | undefined;
  /** The errors after which to retry; default `isTransient`. */
  isRetryable?: (error: unknown) => error is SlipwayError;
}

/**
 * Repeats `attempt` while it fails with a retryable error; throws the last error unchanged. p-retry cannot
 * wait as long as the service asks for (Retry-After), and the SDK has no dependency in a browser.
 */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attemptsMax, sleep, signal, isRetryable = isTransient } = options;
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (count >= attemptsMax || !isRetryable(error)) throw error;
      const seconds = retryDelaySeconds(error, count);
      if (seconds === undefined) throw error;
      await sleep(seconds, signal);
    }
  }
}
