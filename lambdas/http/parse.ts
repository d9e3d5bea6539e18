import type middy from "@middy/core";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import type * as z from "zod";
import { limits } from "../../api/limits.ts";
import type { Route } from "../../api/route.ts";
import { type PresentedCredential, readCredential } from "./presented-credential.ts";
import { type Issue, Problem } from "./problem.ts";

/** What `parse` passes to the middlewares after it and to the handler. */
export type ParsedContext<T> = Context & { input: T };

/** Parses the event once: an HTTP request, a step's input or an event's detail. */
export function parse<Event, T>(
  read: (event: Event) => T,
): middy.MiddlewareObj<Event, unknown, Error, ParsedContext<T>> {
  return {
    before: ({ event, context }) => {
      context.input = read(event);
    },
  };
}

/** A request as it was read. Broken rules are collected, because 401, 404 and 403 come before 400. */
export interface HttpInput {
  now: Date;
  requestId: string;
  headers: Readonly<Record<string, string | undefined>>;
  /** Empty unless the route declares that it sees cookies. */
  cookies: readonly string[];
  params: Readonly<Record<string, string | undefined>>;
  /** As presented: well-formed, but not yet proved. */
  credential: PresentedCredential | undefined;
  query: unknown;
  body: unknown;
  /** The body as it arrived: JSON.parse rounds numbers and drops repeated keys. */
  text: string | undefined;
  issues: Issue[];
  tooLarge: Problem | undefined;
}

function issuesOf(error: z.ZodError | undefined): Issue[] {
  return (error?.issues ?? []).map((issue) => ({ path: issue.path.join("."), message: issue.message }));
}

function parseJson(text: string | undefined): { value: unknown } | { issue: Issue } {
  if (text === undefined || text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value };
    return { issue: { path: "", message: "the body must be a JSON object" } };
  } catch {
    return { issue: { path: "", message: "the body must be valid JSON" } };
  }
}

/** Middy's own JSON parser answers 415 without a content type; here any body is JSON. */
function readBody(event: APIGatewayProxyEventV2): { text?: string; tooLarge?: Problem } {
  if (event.body === undefined) return {};
  const bytes = Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > limits.bodyBytesMax) {
    return { tooLarge: new Problem("body_too_large", `The body must have at most ${limits.bodyBytesMax} bytes.`) };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    // JSON cannot contain NUL, so this is refused as invalid JSON.
    return { text: "\u0000" };
  }
}

/** Reads an HTTP request as its route declares it. */
export function httpInput({ definition }: Route, event: APIGatewayProxyEventV2): HttpInput {
  const { text, tooLarge } = readBody(event);
  const issues: Issue[] = [];
  const query = definition.query?.safeParse(event.queryStringParameters ?? {});
  issues.push(...issuesOf(query?.error));
  const json = definition.body && parseJson(text);
  if (json && "issue" in json) issues.push(json.issue);
  const body = json && "value" in json ? definition.body?.safeParse(json.value) : undefined;
  issues.push(...issuesOf(body?.error));
  return {
    now: new Date(),
    requestId: event.requestContext.requestId,
    headers: event.headers,
    cookies: definition.cookie ? (event.cookies ?? []) : [],
    params: { ...event.pathParameters },
    credential: definition.credential === "none" ? undefined : readCredential(event.headers),
    query: query?.data,
    body: body?.data,
    text,
    issues,
    tooLarge,
  };
}
