import type { Client } from "./client-types.ts";
import { type ClientConfiguration, readAuthorization, readBaseUrl } from "./configuration.ts";
import { ownIdentity, ownServiceUrl } from "./own-identity.ts";
import { replySchemas } from "./replies.ts";
import { type Sleep, sleepFor } from "./retry.ts";
import { routeMethods } from "./route-methods.ts";

export interface ClientOptions {
  /** Seconds that one attempt may take; 30 when not given. */
  timeoutSeconds?: number;
  /** The total number of attempts for a repeatable call; default 4. */
  attemptsMax?: number;
  sleep?: Sleep;
}

/**
 * A client of the service; without arguments, in an app that Slipway deployed, it authenticates itself. Calls reject with `SlipwayError`. GET calls, and POST calls with an `idempotencyKey`, are repeated if
 * no response arrived or the service asked to retry (429, 502, 503, 504); other calls are sent once.
 */
export function createClient(configuration?: ClientConfiguration, options: ClientOptions = {}): Client {
  const baseUrl = readBaseUrl(configuration === undefined ? ownServiceUrl(process.env) : configuration.baseUrl);
  const authorization = configuration === undefined ? undefined : readAuthorization(configuration);
  const connection = {
    baseUrl,
    authorize: authorization === undefined ? ownIdentity(baseUrl, process.env) : async () => authorization,
    timeoutSeconds: options.timeoutSeconds ?? 30,
    attemptsMax: options.attemptsMax ?? 4,
    sleep: options.sleep ?? sleepFor,
    replies: replySchemas,
  };
  return routeMethods(connection);
}
