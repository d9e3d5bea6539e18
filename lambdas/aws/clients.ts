/**
 * Bounds for every SDK client of a Lambda: the number of attempts and the time of each are limited. Without
 * `throwOnRequestTimeout` the SDK only logs a warning at the time-out and continues to wait.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const;

/** Tighter bounds for calls that an HTTP request waits for, and that can be reported as temporarily unavailable. */
export const shortCallDefaults = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;

/** The region that Lambda runs this function in. */
export const ownRegion = () => process.env.AWS_REGION ?? "us-east-1";

/** Whether an SDK error has one of these names. */
export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
