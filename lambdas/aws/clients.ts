import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Sha256 } from "./sha256.ts";

/**
 * Bounds for every SDK client of a Lambda: a call is tried a few times and never waits for ever. Without
 * `throwOnRequestTimeout` the SDK only warns when the time is over, and goes on waiting.
 */
export const clientDefaults = {
  maxAttempts: 4,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  sha256: Sha256,
} as const;

/** Gives a signer for the scheme that the service's endpoint asks for; every resolved SDK client has such a function. */
type Signing = DynamoDBClient["config"]["signer"];

/** Takes out the SDK's own logging step: it walks every input and output in full, for a logger that nobody has given. */
export function unlogged<C extends { middlewareStack: { remove(name: string): boolean } }>(client: C): C {
  client.middlewareStack.remove("loggerMiddleware");
  return client;
}

/**
 * `unlogged`, and with one signer for the client's life: the SDK makes a new one, with a copy of the whole
 * configuration, for every call. Only for services with one way to sign: S3 chooses by the bucket.
 */
export function lean<C extends Parameters<typeof unlogged>[0] & { config: { signer: Signing } }>(client: C): C {
  const make = client.config.signer;
  let signer: ReturnType<Signing> | undefined;
  client.config.signer = (scheme) => {
    signer ??= make(scheme).catch((error) => {
      signer = undefined;
      throw error;
    });
    return signer;
  };
  return unlogged(client);
}

/** Whether an SDK error has one of these names. */
export function isNamed(error: unknown, ...names: string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}
