import middy from "@middy/core";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { ConnectionError, SlipwayError } from "../../sdk/errors.ts";
import { httpErrors } from "../http/errors.ts";
import { errorFields, log, logErrors } from "../http/log.ts";
import { foreignOrigin, Problem, unauthorized } from "../http/problem.ts";
import { prepareTools } from "../http/tools.ts";
import { type Caller, callerOf } from "./model/caller.ts";
import { type Exchange, exchangeOf, protocolError, resultOf } from "./model/exchange.ts";
import { createServer } from "./model/server.ts";

const ready = prepareTools(["service:call"]);

/** Before the function's own time-out, so that the client gets an answer of the protocol. */
const marginMs = 2_000;

/** A page of another site must not use a credential that the browser adds; API clients send no Origin. */
function refuseForeignOrigin(origin: string | undefined, url: string): void {
  const { hostname, port } = new URL(url);
  const own = hostname === "127.0.0.1" ? [url, `http://localhost:${port}`] : [url];
  if (origin !== undefined && !own.includes(origin)) throw foreignOrigin();
}

/** Proves the credential with the API itself, which also says what a token is for. */
async function accessOf(caller: Caller): Promise<string | null> {
  return (await caller.answer("get-me")).headers.get("x-slipway-access");
}

/** The protocol's own answer; tools that change something are left out for a credential that only reads. */
async function serve({ request, body }: Exchange, caller: Caller, readsOnly: boolean): Promise<Response> {
  const factory = () => createServer(caller, { readsOnly });
  if (!(await isLegacyRequest(request, body))) {
    // No subscriptions: an answer is whole, it is not a stream.
    return createMcpHandler(factory, { legacy: "reject", maxSubscriptions: 0 }).fetch(request, { parsedBody: body });
  }
  if (request.method !== "POST") return createMcpHandler(factory).fetch(request);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await factory().connect(transport);
  return transport.handleRequest(request, { parsedBody: body });
}

/**
 * The answer to one HTTP request. A tool's call is proved by the route that it calls; everything else, and a call that
 * reached no route, by `GET /me`.
 */
async function answer(exchange: Exchange, caller: Caller): Promise<Response> {
  const { request, calls } = exchange;
  try {
    const readsOnly = request.method === "POST" && !calls && (await accessOf(caller)) === "read";
    const response = await serve(exchange, caller, readsOnly);
    if (calls && caller.proof() === "none") await accessOf(caller).catch(() => undefined);
    return response.status >= 500 ? protocolError(exchange.id, undefined) : response;
  } catch (error) {
    if (!(error instanceof SlipwayError)) log("error", "An MCP request failed.", errorFields(error));
    return protocolError(exchange.id, error);
  }
}

async function handle(event: APIGatewayProxyEventV2, context: Context): Promise<APIGatewayProxyStructuredResultV2> {
  const { service } = await ready();
  refuseForeignOrigin(event.headers.origin, service.url);
  const { authorization } = event.headers;
  if (!authorization) throw unauthorized();
  const exchange = exchangeOf(event, service.url);
  const { signal, late, stop } = deadlineOf(context);
  try {
    const caller = callerOf(service.url, authorization, signal);
    const response = await Promise.race([answer(exchange, caller), late]);
    if (caller.proof() === "refused") throw unauthorized();
    return await resultOf(response ?? protocolError(exchange.id, signal.reason), event);
  } finally {
    stop();
  }
}

/** The calls behind a request are aborted at its deadline; work that does not end then is not waited for. */
function deadlineOf(context: Context) {
  const ms = context.getRemainingTimeInMillis() - marginMs;
  const controller = new AbortController();
  const late = Promise.withResolvers<undefined>();
  const message =
    "The service did not answer in time. Whether a change was made is unknown: look before you repeat it.";
  const abort = setTimeout(() => controller.abort(new ConnectionError("timeout", message)), ms);
  const giveUp = setTimeout(() => late.resolve(undefined), ms + marginMs / 2);
  const stop = () => {
    clearTimeout(abort);
    clearTimeout(giveUp);
  };
  return { signal: controller.signal, late: late.promise, stop };
}

export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
  .use(httpErrors())
  .use(
    logErrors((error) =>
      error instanceof Problem && error.status < 500
        ? undefined
        : { message: "An MCP request failed.", fields: errorFields(error) },
    ),
  )
  .handler(handle);
