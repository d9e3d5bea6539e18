import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type * as z from "zod";
import type { Capability } from "../../api/capabilities.ts";
import { errorTable } from "../../api/errors.ts";
import { limits } from "../../api/limits.ts";
import { callerCapabilities, type PathParams, type Route } from "../../api/route.ts";
import { DatabaseResuming } from "../aws/errors.ts";
import { isTransient } from "../aws/transient.ts";
import type { Places } from "../table/reader.ts";
import { type Access, accessFor, type ReadAccess } from "./access.ts";
import { idempotencyKey, Replay } from "./idempotency.ts";
import { errorFields, log } from "./log.ts";
import { type PresentedCredential, readCredential } from "./presented-credential.ts";
import { databaseResuming, type Issue, invalid, Problem, unauthorized, unavailable } from "./problem.ts";
import { prepareTools, TableClient, type Tools } from "./tools.ts";

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;
type Definition<R extends Route> = R["definition"];

export interface Call<R extends Route> {
  params: PathParams<R["path"]>;
  query: Parsed<Definition<R>["query"]>;
  body: Parsed<Definition<R>["body"]>;
  /** The body as it arrived: JSON.parse rounds numbers and drops repeated keys. */
  text: string | undefined;
  /** Only a route that declares table:write can commit. */
  access: "table:write" extends Uses<R> ? Access : ReadAccess;
  /** The credential as presented; `access` proves it. Absent only on routes that are called without one. */
  credential: R["definition"]["credential"] extends "none" ? undefined : PresentedCredential;
  /** The request's headers, names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** The answer to an input that breaks a rule: what was found at the door and `issues`; `undefined` when nothing is wrong. */
  refusal(issues: Issue[]): Problem | undefined;
  /** Adds a header to the answer. */
  header(name: string, value: string): void;
}

type Uses<R extends Route> = Definition<R>["uses"][number] & Capability;
type Reply<R extends Route> = z.input<Definition<R>["reply"]>;

interface Inputs {
  query: unknown;
  body: unknown;
  issues: Issue[];
}

function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
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

function parseInputs(route: Route, event: APIGatewayProxyEventV2, body: string | undefined): Inputs {
  const inputs: Inputs = { query: undefined, body: undefined, issues: [] };
  if (route.definition.query) {
    const query = route.definition.query.safeParse(event.queryStringParameters ?? {});
    if (query.success) inputs.query = query.data;
    else inputs.issues.push(...issuesOf(query.error));
  }
  if (route.definition.body) {
    const json = parseJson(body);
    if ("issue" in json) inputs.issues.push(json.issue);
    else {
      const parsed = route.definition.body.safeParse(json.value);
      if (parsed.success) inputs.body = parsed.data;
      else inputs.issues.push(...issuesOf(parsed.error));
    }
  }
  return inputs;
}

function readBody(event: APIGatewayProxyEventV2): { text?: string; tooLarge?: Problem } {
  if (event.body === undefined) return {};
  const bytes = Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > limits.bodyBytesMax) {
    return {
      tooLarge: new Problem("body_too_large", `The body must have at most ${limits.bodyBytesMax} bytes.`),
    };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { text: "\u0000" };
  }
}

function idempotencyOf(
  route: Route,
  credential: PresentedCredential | undefined,
  event: APIGatewayProxyEventV2,
  body: string | undefined,
  issues: Issue[],
) {
  const key = event.headers["idempotency-key"];
  if (key === undefined || !credential || route.method !== "POST") return undefined;
  if (key.length < 1 || key.length > limits.idempotencyKeyLengthMax) {
    issues.push({ path: "Idempotency-Key", message: `must have 1 to ${limits.idempotencyKeyLengthMax} characters` });
    return undefined;
  }
  return idempotencyKey(credential, { key, path: event.rawPath, body: body ?? "" });
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DatabaseResuming) return databaseResuming(error);
  if (isTransient(error)) return unavailable(error);
  return new Problem("internal", "Something went wrong on our side.", { cause: error });
}

/** Whether an Accept header names the media type of RFC 9457, and not with a weight of zero. */
function wantsRfc9457(accept: string | undefined): boolean {
  const ranges = (accept ?? "").toLowerCase().split(",");
  return ranges.some(
    (range) => /^\s*application\/problem\+json\s*(;|$)/.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range),
  );
}

/** The answer to an error, in the service's own shape or as RFC 9457 when the client asks for it (docs/api.md, Errors). */
export function errorResponse(
  error: unknown,
  requestId: string,
  accept: string | undefined,
): APIGatewayProxyStructuredResultV2 {
  const problem = problemOf(error);
  if (problem.status >= 500) {
    log("error", problem.message, { requestId, code: problem.code, ...errorFields(problem.cause ?? problem) });
  }
  const { status, title } = errorTable[problem.code];
  const rfc9457 = wantsRfc9457(accept);
  const fields = { code: problem.code, requestId, ...problem.fields };
  const body = rfc9457
    ? { type: "about:blank", title, status, detail: problem.message, ...fields }
    : { status: title, message: problem.message, ...fields };
  return {
    statusCode: status,
    headers: {
      "content-type": rfc9457 ? "application/problem+json" : "application/json",
      "x-request-id": requestId,
      ...(status === 401 && { "www-authenticate": "Bearer" }),
      ...problem.headers,
    },
    body: JSON.stringify(body),
  };
}

export interface EndpointOptions<R extends Route> {
  /** Completes a remembered answer with what must not be stored. */
  replay?: (reply: Reply<R>, call: Call<R>, tools: Tools<Uses<R>>) => Promise<Reply<R>>;
  /** Rows that must exist: checked before permissions and input. */
  exists?: (params: PathParams<R["path"]>) => Places;
}

/** Access for routes that are called without a credential: asking for proof is a mistake of ours. */
const openAccess: Access & { proved(): boolean } = {
  read: () => Promise.reject(new Error("this route has no credential")),
  commit: () => Promise.reject(new Error("this route has no credential")),
  proved: () => true,
};

/**
 * Turns a route and its handler into a Lambda handler for API Gateway's HTTP API (payload 2.0): parses and checks the
 * input, judges in the order 401, 404, 403, 400 (docs/api.md, Order of judgment), answers with the route's status, words every error.
 */
export function endpoint<const R extends Route>(
  route: R,
  handle: (call: Call<R>, tools: Tools<Uses<R>>) => Promise<Reply<R>>,
  { replay = async (reply) => reply, exists = () => ({}) }: EndpointOptions<R> = {},
) {
  const client = new TableClient();
  const ready = prepareTools<Uses<R>>(route.definition.uses as readonly Uses<R>[], client);
  const callerTools = route.definition.credential === "none" ? undefined : prepareTools(callerCapabilities, client);
  const writerTools = route.definition.uses.includes("table:write") ? prepareTools(["table:write"], client) : undefined;

  async function accessTools() {
    const [caller, writer] = await Promise.all([callerTools?.(), writerTools?.()]);
    return caller && { reader: caller.table, keyUses: caller.keyUses, writer: writer?.table };
  }

  async function answer(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
    const [tools, proving] = await Promise.all([ready(), accessTools()]);
    const now = new Date();
    const { text, tooLarge } = readBody(event);
    const headers: Record<string, string> = {};
    const credential = route.definition.credential === "none" ? undefined : readCredential(event.headers);
    if (!credential && route.definition.credential !== "none") throw unauthorized();

    const inputs = parseInputs(route, event, text);
    const params = { ...event.pathParameters } as PathParams<R["path"]>;
    const idempotency = idempotencyOf(route, credential, event, text, inputs.issues);
    const path: Record<string, string | undefined> = { ...event.pathParameters };
    const access =
      credential && proving
        ? accessFor(
            {
              credential,
              now,
              orgId: path.orgId,
              projectId: path.projectId,
              managed: route.definition.errors.includes("not_a_manager"),
              exists: exists(params),
              idempotencyKey: idempotency,
            },
            proving,
          )
        : openAccess;
    const refusal = (issues: Issue[]) => {
      const all = [...inputs.issues, ...issues];
      return tooLarge ?? (all.length > 0 ? invalid(all) : undefined);
    };
    const refused = route.definition.judgedBy === "handler" ? undefined : refusal([]);
    if (refused) {
      if (credential) await access.read();
      throw refused;
    }
    const call: Call<R> = {
      params,
      query: inputs.query as Call<R>["query"],
      body: inputs.body as Call<R>["body"],
      text,
      access: access as Call<R>["access"],
      credential: credential as Call<R>["credential"],
      headers: event.headers,
      now,
      refusal,
      header: (name, value) => {
        headers[name] = value;
      },
    };
    const reply = await handle(call, tools).catch((error) => {
      if (error instanceof Replay) return replay(error.reply as Reply<R>, call, tools);
      throw error;
    });
    if (!access.proved()) throw new Error(`${route.id} answered without proving its caller`);
    return {
      statusCode: route.definition.status,
      headers: { "content-type": "application/json", "x-request-id": event.requestContext.requestId, ...headers },
      body: JSON.stringify(reply),
    };
  }

  return middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .onError((request) => {
      const { event, error } = request;
      request.response = errorResponse(error, event.requestContext.requestId, event.headers.accept);
    })
    .handler(answer);
}
