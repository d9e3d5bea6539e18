/**
 * Bounds for every SDK client of a Lambda: a call is tried a few times and never waits for ever. Without
 * `throwOnRequestTimeout` the SDK only warns when the time is over, and goes on waiting.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const;

/** Whether an SDK error has one of these names. */
export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
