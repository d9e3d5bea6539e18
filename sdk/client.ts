import type { Client } from "./client-types.ts";
import { type ClientConfiguration, readAuthorization, readBaseUrl } from "./configuration.ts";
import { SlipwayError } from "./errors.ts";
import { nodeFetch } from "./node-fetch.ts";
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

/** The address of the service that deployed this app. */
function ownServiceUrl(): string {
  const url = process.env.SLIPWAY_URL;
  if (url) return url;
  const message = "SLIPWAY_URL is not set: createClient without arguments works inside an app that Slipway deployed.";
  throw new SlipwayError("no_identity", message);
}

/** Loads what proves the identity with the first call, because a client with a key never needs it. */
function ownIdentity(baseUrl: string): () => Promise<string> {
  let authorize: Promise<() => Promise<string>> | undefined;
  return async () => {
    authorize ??= import("./own-identity.ts").then((identity) => identity.ownIdentity(baseUrl, process.env));
    return (await authorize)();
  };
}

/**
 * A client of the service; without arguments, in an app that Slipway deployed, it authenticates itself. Calls reject with `SlipwayError`. GET calls, and POST calls with an `idempotencyKey`, are repeated if
 * no response arrived or the service asked to retry (429, 502, 503, 504); other calls are sent once.
 */
export function createClient(configuration?: ClientConfiguration, options: ClientOptions = {}): Client {
  const baseUrl = readBaseUrl(configuration === undefined ? ownServiceUrl() : configuration.baseUrl);
  const authorization = configuration === undefined ? undefined : readAuthorization(configuration);
  const connection = {
    baseUrl,
    authorize: authorization === undefined ? ownIdentity(baseUrl) : async () => authorization,
    timeoutSeconds: options.timeoutSeconds ?? 30,
    attemptsMax: options.attemptsMax ?? 4,
    sleep: options.sleep ?? sleepFor,
    fetch: nodeFetch,
    replies: replySchemas,
  };
  return routeMethods(connection);
}
