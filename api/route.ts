import type * as z from "zod";
import type { Capability } from "./capabilities.ts";
import type { ErrorCode } from "./errors.ts";

type Segment<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Segment<Rest> : never;

/** The names between braces in a path, each a string: `PathParams<"/a/{b}">` is `{ b: string }`. */
export type PathParams<P extends string> = { [Name in Segment<P>]: string };

export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface RouteDefinition {
  summary: string;
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
  /** Whether the handler itself refuses a bad input, after it has looked whether what the path names exists. */
  lateValidation?: true;
}

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

/** What the function behind a route may touch: what the route declares, and what proving its caller needs. */
export function capabilitiesOf({ definition }: Route): readonly Capability[] {
  return [...new Set([...definition.uses, ...(definition.credential === "none" ? [] : callerCapabilities)])];
}

/** Declares a route once; everything else (API Gateway, Lambda, local server, OpenAPI, client, tests) is derived from it. */
export function route<const Id extends string, const P extends string, const D extends RouteDefinition>(
  id: Id,
  at: `${Method} ${P}`,
  definition: D,
): Route<Id, P, D> {
  const [method, path] = at.split(" ", 2) as [Method, P];
  return { id, method, path, definition };
}
