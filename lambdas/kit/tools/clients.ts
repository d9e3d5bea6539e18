/**
 * Bounds for every SDK client of a Lambda: a call is tried a few times and never waits for ever. Without
 * `throwOnRequestTimeout` the SDK only warns when the time is over, and goes on waiting.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
} as const;

/** Takes out the SDK's own logging step: it walks every input and output in full, for a logger that nobody has given. */
export function unlogged<C extends { middlewareStack: { remove(name: string): boolean } }>(client: C): C {
  client.middlewareStack.remove("loggerMiddleware");
  return client;
}

/** Whether an SDK error has one of these names. */
export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
