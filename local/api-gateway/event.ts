import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { newId } from "../../lambdas/table/ids.ts";

/** The path and the query, which is everything after the first question mark. */
export function addressOf(request: IncomingMessage): { rawPath: string; rawQueryString: string } {
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
    // API Gateway gives cookies in a list of their own.
    if (value !== undefined && name !== "cookie") headers[name] = Array.isArray(value) ? value.join(",") : value;
  }
  return headers;
}

/** The event of a request in the format of API Gateway's HTTP API (payload 2.0). */
export function eventOf(
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
    ...(request.headers.cookie !== undefined && { cookies: request.headers.cookie.split(/; */) }),
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
