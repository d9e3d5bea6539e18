import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { type ErrorCode, errorTable } from "../api/errors.ts";
import { routes } from "../api/index.ts";
import { limits } from "../api/limits.ts";
import { newId } from "../lambdas/table/ids.ts";
import type { Functions, Handler } from "./lambda/functions.ts";

interface Target {
  id: string;
  names: string[];
}

/** Routes by method and shape of path; `{x}` matches one non-empty segment, as in API Gateway. */
function createRouter(): (method: string, path: string) => { id: string; params: Record<string, string> } | undefined {
  const byShape = new Map<string, Target>();
  for (const { id, method, path } of routes) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
    byShape.set(`${method} ${path.replaceAll(/\{\w+\}/g, "*")}`, { id, names });
  }
  const shapes = [...byShape].map(([shape, target]) => ({ segments: shape.split("/"), target }));
  return (method, path) => {
    const segments = `${method} ${path}`.split("/");
    for (const { segments: shape, target } of shapes) {
      if (shape.length !== segments.length) continue;
      if (!shape.every((part, index) => part === segments[index] || (part === "*" && segments[index] !== ""))) continue;
      const values = segments.filter((_, index) => shape[index] === "*");
      return {
        id: target.id,
        params: Object.fromEntries(target.names.map((name, index) => [name, decode(values[index] ?? "")])),
      };
    }
    return undefined;
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (length <= limits.bodyBytesMax) chunks.push(chunk);
    length += chunk.length;
  }
  return length === 0 ? undefined : Buffer.concat(chunks);
}

/** The path and the query, which is all that follows the first question mark. */
function addressOf(request: IncomingMessage): { rawPath: string; rawQueryString: string } {
  const [rawPath = "/", ...query] = (request.url ?? "/").split("?");
  return { rawPath, rawQueryString: query.join("?") };
}

function queryOf(text: string): Record<string, string> | undefined {
  if (text === "") return undefined;
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    query[name] = Object.hasOwn(query, name) ? `${query[name]},${value}` : value;
  }
  return query;
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(",") : value;
  }
  return headers;
}

/** The event that API Gateway's HTTP API (payload 2.0) makes of a request. */
function eventOf(
  request: IncomingMessage,
  body: Buffer | undefined,
  params: Record<string, string>,
): APIGatewayProxyEventV2 {
  const { rawPath, rawQueryString } = addressOf(request);
  const isText = body === undefined || isUtf8(body);
  const query = queryOf(rawQueryString);
  return {
    version: "2.0",
    routeKey: "",
    rawPath,
    rawQueryString,
    headers: headersOf(request),
    ...(query && { queryStringParameters: query }),
    pathParameters: params,
    requestContext: {
      accountId: "000000000000",
      apiId: "local",
      domainName: request.headers.host ?? "",
      domainPrefix: "local",
      http: {
        method: request.method ?? "GET",
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: request.socket.remoteAddress ?? "",
        userAgent: request.headers["user-agent"] ?? "",
      },
      requestId: newId("req", new Date()),
      routeKey: "",
      stage: "$default",
      time: "",
      timeEpoch: Date.now(),
    },
    ...(body && { body: body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: !isText,
  };
}

const headerBytesMax = 64 * 1024;
const notHttp = `The request is not valid HTTP, or its headers have more than ${headerBytesMax} bytes.`;

/** An error that no handler has answered, in the shape of all errors (docs/api.md). */
function ownError(code: ErrorCode, message: string, fields: object = {}) {
  const { status, title } = errorTable[code];
  const requestId = newId("req", new Date());
  return {
    status,
    title,
    headers: { "content-type": "application/json", "x-request-id": requestId },
    body: JSON.stringify({ status: title, message, code, requestId, ...fields }),
  };
}

export interface ApiGateway {
  port: number;
  close(): Promise<void>;
}

/** The public address of the local service: API Gateway's routing and events, the very same handlers behind it. */
export async function startApiGateway(options: { port: number; functions: Functions }): Promise<ApiGateway> {
  const route = createRouter();
  const handlers = new Map<string, Handler>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = route(request.method ?? "GET", addressOf(request).rawPath);
    const id = target?.id ?? "not-found";
    const body = await readBody(request);
    let handler = handlers.get(id);
    if (!handler) {
      handler = await options.functions.handler(id);
      handlers.set(id, handler);
    }
    const event = eventOf(request, body, target?.params ?? {});
    const result = (await handler(event, {})) as APIGatewayProxyStructuredResultV2;
    response.writeHead(result.statusCode ?? 200, result.headers as Record<string, string>);
    response.end(request.method === "HEAD" ? undefined : result.body);
  }

  const server = createServer({ maxHeaderSize: headerBytesMax }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      const { status, headers, body } = ownError("internal", "Something went wrong on our side.");
      if (!response.headersSent) response.writeHead(status, headers);
      response.end(body);
    });
  });
  server.on("clientError", (_error, socket) => {
    const { status, title, headers, body } = ownError("invalid_request", notHttp, {
      issues: [{ path: "", message: "must be a whole request of HTTP/1.1" }],
    });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `HTTP/1.1 ${status} ${title}\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n`;
    if (socket.writable) socket.end(`${head}connection: close\r\n\r\n${body}`);
    else socket.destroy();
  });
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
