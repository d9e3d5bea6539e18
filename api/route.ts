import type * as z from "zod";
import type { Capability } from "./capabilities.ts";
import type { ErrorCode } from "./errors.ts";
import type { Role } from "./role.ts";

type Segment<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Segment<Rest> : never;

/** The names between braces in a path, each a string: `PathParams<"/a/{b}">` is `{ b: string }`. */
export type PathParams<P extends string> = { [Name in Segment<P>]: string };

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/**
 * How the event of a change is recorded (ADR 0019). `commit`: by `access.commit`, in the same transaction. `around`: before
 * work outside the table, and completed after it. `none`: not at all, with the reason.
 */
export type EventRule = "commit" | "around" | { none: string };

/** A route as a tool for language models: its input is the path, the query and the body, its hints follow from the method. */
export interface ToolDeclaration {
  /** In snake case, as clients show it. */
  name: string;
  description: string;
}

export interface RouteDefinition {
  summary: string;
  /** Every route that changes something declares it; `route` demands it of all methods but GET. */
  event?: EventRule;
  /** How the query string parses; absent means that none is read. */
  query?: z.ZodObject;
  /** How the JSON body parses; absent means that none is read. */
  body?: z.ZodType;
  /** The answer of a success. */
  reply: z.ZodType;
  /** HTTP status of a success: created resources answer 201 (docs/api.md, Requests and answers). */
  status: 200 | 201;
  /** The error codes beyond those that every route can answer (`commonErrors`). */
  errors: readonly ErrorCode[];
  /** What the handler may touch. */
  uses: readonly Capability[];
  /** "none" for the routes that are called without a credential. */
  credential?: "none";
  /** Whether the handler sees the request's cookies and may set one; no other route does. */
  cookie?: true;
  /** The least role that a user needs; absent: every member. Keys act for the whole organization. */
  role?: Exclude<Role, "member">;
  /** Whether a member may do it to themselves: the path's `{userId}` is the caller. */
  orSelf?: true;
  /** "users": keys and sessions of apps are refused. */
  callers?: "users";
  /** "deploy": tokens for deployments may call it, beside those for everything. Every GET is open to all tokens. */
  tokens?: "deploy";
  /** Whether a personal access token may do it to itself, whatever it was made for: the path's `{tokenId}` is the token. */
  ownToken?: true;
  /** The tool of the same work for language models (docs/mcp.md). */
  tool?: ToolDeclaration;
  /** Whether the handler validates the input itself, after it has checked that the path's resources exist. */
  lateValidation?: true;
}

type SchemaName = "query" | "body" | "reply";

/** A route's definition as it is written: functions make the schemas, because no function of AWS needs those of every route. */
export type RouteDeclaration = Omit<RouteDefinition, SchemaName> & {
  query?: () => z.ZodObject;
  body?: () => z.ZodType;
  reply: () => z.ZodType;
};
/** The definition that a declaration stands for. */
type Defined<D extends RouteDeclaration> = {
  [Name in keyof D]: Name extends SchemaName ? (D[Name] extends () => infer Schema ? Schema : D[Name]) : D[Name];
};

export interface Route<
  Id extends string = string,
  P extends string = string,
  D extends RouteDefinition = RouteDefinition,
> {
  /** Route id = file name = operationId = function name = client method. */
  id: Id;
  method: Method;
  path: P;
  definition: D;
}

/** What proving a caller needs, whatever the route does. */
export const callerCapabilities = ["table:read", "keys:record-use"] as const satisfies readonly Capability[];

/** Whether the route's changes are recorded as events. */
export function recordsEvents({ definition: { event } }: Pick<Route, "definition">): boolean {
  return event === "commit" || event === "around";
}

/** What the function behind a route may touch: what the route declares, and what proving its caller and its events need. */
export function capabilitiesOf(route: Route): readonly Capability[] {
  const { uses, credential } = route.definition;
  if (credential === "none") return [...new Set(uses)];
  return [...new Set([...uses, ...callerCapabilities, ...(recordsEvents(route) ? (["events:record"] as const) : [])])];
}

/** What a personal access token was made for (docs/api.md, Personal access tokens). */
export const tokenAccesses = ["read", "deploy", "all"] as const;
export type TokenAccess = (typeof tokenAccesses)[number];

/** The tokens that may call the route, by what they were made for. */
export function openTo({ method, definition }: Pick<Route, "method" | "definition">): readonly TokenAccess[] {
  if (method === "GET") return tokenAccesses;
  return definition.tokens === "deploy" ? ["deploy", "all"] : ["all"];
}

/** The client's method of a route id: `cancel-build` → `cancelBuild`. */
export const methodName = (routeId: string): string =>
  routeId.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The declaration with a property for each schema, which makes it when it is first read. */
function define<const D extends RouteDeclaration>(declaration: D): Defined<D> {
  const definition = { ...declaration };
  for (const name of ["query", "body", "reply"] as const) {
    const make = declaration[name];
    if (!make) continue;
    let schema: z.ZodType | undefined;
    const get = () => {
      schema ??= make();
      return schema;
    };
    Object.defineProperty(definition, name, { enumerable: true, get });
  }
  return definition as unknown as Defined<D>;
}

/** Declares a route once; everything else (API Gateway, Lambda, local server, OpenAPI, client, tests) is derived from it. */
export function route<
  const Id extends string,
  const M extends Method,
  const P extends string,
  const D extends RouteDeclaration,
>(
  id: Id,
  at: `${M} ${P}`,
  declaration: D & (M extends "GET" ? { event?: never } : { event: EventRule }),
): Route<Id, P, Extract<Defined<D>, RouteDefinition>> {
  const [method, path] = at.split(" ", 2) as [Method, P];
  return { id, method, path, definition: define(declaration) as Extract<Defined<D>, RouteDefinition> };
}
