import type * as z from "zod";
import type { PathParams, Route } from "../api/route.ts";
import { ownIdentity, ownServiceUrl } from "./own-identity.ts";
import { type Sleep, sleepFor } from "./retry.ts";
import { type AnyRoute, clientRoutes } from "./routes.ts";
import { type CallOptions, type Connection, send } from "./send.ts";

type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type Flat<T> = { [K in keyof T]: T[K] };
type Params<R extends Route> = { [Name in keyof PathParams<R["path"]>]: string | number };
/** A query may be given as text, as in the URL, or as its parsed value: `limit: 20`. */
type Query<R extends Route> = R["definition"] extends { query: infer Q extends z.ZodObject }
  ? { [K in keyof z.input<Q>]: z.input<Q>[K] | (K extends keyof z.output<Q> ? z.output<Q>[K] : never) }
  : unknown;
type Body<R extends Route> = R["definition"] extends { body: infer B extends z.ZodType } ? z.input<B> : unknown;

/** Path parameters, query and body of a route, side by side in one object. */
type InputOf<R extends Route> = Flat<Params<R> & Query<R> & Body<R>>;
export type ReplyOf<R extends Route> = z.output<R["definition"]["reply"]>;

type Method<R extends Route> =
  Record<never, never> extends InputOf<R>
    ? (input?: InputOf<R>, options?: CallOptions) => Promise<ReplyOf<R>>
    : (input: InputOf<R>, options?: CallOptions) => Promise<ReplyOf<R>>;

/** One method per route of the contract, named after the route's id: `client.createBuild({ orgId, projectId, title })`. */
export type Client = { readonly [R in AnyRoute as CamelCase<R["id"]>]: Method<R> };

export type ClientConfiguration =
  | { baseUrl: string; accessKey: string; secretKey: string }
  | { baseUrl: string; token: string };

export interface ClientOptions {
  /** Seconds that one attempt may take; 30 when not given. */
  timeoutSeconds?: number;
  /** The total number of attempts for a repeatable call; default 4. */
  attemptsMax?: number;
  sleep?: Sleep;
}

/** The method name of a route id: `cancel-build` → `cancelBuild`. */
export const methodName = (routeId: string): string =>
  routeId.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/**
 * A client of the service; without arguments, in an app that Slipway deployed, it authenticates itself. Calls reject with `SlipwayError`. GET calls, and POST calls with an `idempotencyKey`, are repeated if
 * no response arrived or the service asked to retry (429, 502, 503, 504); other calls are sent once.
 */
export function createClient(configuration?: ClientConfiguration, options: ClientOptions = {}): Client {
  const baseUrl = readBaseUrl(configuration === undefined ? ownServiceUrl(process.env) : configuration.baseUrl);
  const authorization = configuration === undefined ? undefined : readAuthorization(configuration);
  const connection: Connection = {
    baseUrl,
    authorize: authorization === undefined ? ownIdentity(baseUrl, process.env) : async () => authorization,
    timeoutSeconds: options.timeoutSeconds ?? 30,
    attemptsMax: options.attemptsMax ?? 4,
    sleep: options.sleep ?? sleepFor,
  };
  const methods = clientRoutes.map((route) => [
    methodName(route.id),
    (input: Record<string, unknown> = {}, call: CallOptions = {}) => send(connection, route, input, call),
  ]);
  // The table has the computed type by construction; `send` validates each reply against its route's schema.
  return Object.fromEntries(methods) as Client;
}

const usage = "createClient needs { baseUrl, accessKey, secretKey }, { baseUrl, token }, or nothing in a deployed app.";

function readBaseUrl(baseUrl: string | undefined): string {
  if (!baseUrl) throw new TypeError(usage);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl must be an http or https address without user name, query and fragment.");
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

const keyPart = /^[\x21-\x39\x3b-\x7e]+$/;

function readAuthorization(configuration: ClientConfiguration): string {
  const parts = "token" in configuration ? [configuration.token] : [configuration.accessKey, configuration.secretKey];
  if (parts.some((part) => !part)) throw new TypeError(usage);
  if (!parts.every((part) => keyPart.test(part))) {
    throw new TypeError("A key or token holds a character that none of them has: a space, a colon or a line break.");
  }
  return `Bearer ${parts.join(":")}`;
}
