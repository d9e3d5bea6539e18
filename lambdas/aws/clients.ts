import { BoundedHttpHandler } from "./deadline.ts";

interface Bounds {
  /** In milliseconds; the time until an attempt's answer begins. */
  requestTimeout?: number;
  /** In milliseconds; the longest silence on the connection. */
  socketTimeout?: number;
}

/** Without `throwOnRequestTimeout` the SDK only logs a warning at the time-out and continues to wait. */
const httpHandler = (bounds: Bounds) =>
  new BoundedHttpHandler({ connectionTimeout: 1_000, throwOnRequestTimeout: true, ...bounds });

/** Bounds for every SDK client of a Lambda: the number of attempts and the time of each are limited. */
export function clientDefaults(bounds: Bounds = {}) {
  return { maxAttempts: 4, requestHandler: httpHandler({ requestTimeout: 10_000, ...bounds }) };
}

/** Tighter bounds for calls that an HTTP request waits for, and that can be reported as temporarily unavailable. */
export function shortCallDefaults() {
  return { maxAttempts: 2, requestHandler: httpHandler({ requestTimeout: 3_000 }) };
}

/** The region that Lambda runs this function in. */
export const ownRegion = () => process.env.AWS_REGION ?? "us-east-1";

/** Whether an SDK error has one of these names. */
export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
