import middy from "@middy/core";
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { SlipwayError } from "../../sdk/errors.ts";
import { httpErrors } from "../http/errors.ts";
import { errorFields, logErrors } from "../http/log.ts";
import { Problem, unauthorized } from "../http/problem.ts";
import { prepareTools } from "../http/tools.ts";
import { type Caller, callerOf } from "./model/caller.ts";
import { requestOf, resultOf } from "./model/exchange.ts";
import { createServer } from "./model/server.ts";

const ready = prepareTools(["service:call"]);

/** A page of another site must not use a credential that the browser adds; API clients send no Origin. */
function refuseForeignOrigin(origin: string | undefined, url: string): void {
  const { port } = new URL(url);
  const own = [url, `http://localhost:${port}`];
  if (origin !== undefined && !own.includes(origin)) {
    throw new Problem("forbidden", "Requests from pages of another site are refused.");
  }
}

/** Proves the credential with the API itself, which also says what a token is for. */
async function accessOf(caller: Caller): Promise<string | null> {
  try {
    return (await caller.answer("get-me")).headers.get("x-slipway-access");
  } catch (error) {
    if (error instanceof SlipwayError && error.status === 401) throw unauthorized();
    throw error;
  }
}

async function answer(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const { service } = await ready();
  refuseForeignOrigin(event.headers.origin, service.url);
  const request = requestOf(event, service.url);
  const authorization = event.headers.authorization;
  if (!authorization) throw unauthorized();
  const caller = callerOf(service.url, authorization);
  const readsOnly = request.method === "POST" && (await accessOf(caller)) === "read";
  const factory = () => createServer(caller, { readsOnly });
  if (!(await isLegacyRequest(request))) {
    return resultOf(await createMcpHandler(factory, { legacy: "reject", responseMode: "json" }).fetch(request), event);
  }
  if (request.method !== "POST") return resultOf(await createMcpHandler(factory).fetch(request), event);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await factory().connect(transport);
  return resultOf(await transport.handleRequest(request), event);
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
  .handler(answer);
