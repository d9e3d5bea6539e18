import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { limits } from "../../../api/limits.ts";
import { SlipwayError } from "../../../sdk/errors.ts";
import { Problem } from "../../http/problem.ts";

type MessageId = string | number | null;

/** One HTTP request of the protocol. */
export interface Exchange {
  /** The standard's request, which the protocol's library takes. */
  request: Request;
  /** The parsed body; undefined if it is not JSON. */
  body: unknown;
  /** The id of its only message, for an answer without the library; null if there is none. */
  id: MessageId;
  /** Whether it only calls tools. */
  calls: boolean;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** API Gateway's event as a request of the protocol. Throws 413 for a body that is larger than every route takes. */
export function exchangeOf(event: APIGatewayProxyEventV2, url: string): Exchange {
  const { method, path } = event.requestContext.http;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value);
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > limits.bodyBytesMax) {
    throw new Problem("body_too_large", `The body must have at most ${limits.bodyBytesMax} bytes.`);
  }
  const body = parsed(bytes);
  const messages: { id?: unknown; method?: unknown }[] = (Array.isArray(body) ? body : [body]).map(Object);
  const [first, ...others] = messages;
  const isId = (id: unknown) => typeof id === "string" || typeof id === "number";
  return {
    request: new Request(`${url}${path}`, { method, headers, ...(method === "POST" && { body: bytes }) }),
    body,
    id: others.length === 0 && isId(first?.id) ? (first?.id as MessageId) : null,
    calls: messages.length > 0 && messages.every((message) => message.method === "tools/call"),
  };
}

/** An error of the protocol, for a request that could not be served; what is unknown says nothing. */
export function protocolError(id: MessageId, error: unknown): Response {
  const known = error instanceof SlipwayError;
  const data = known && { code: error.code, retryAfterSeconds: error.retryAfterSeconds };
  return Response.json({
    jsonrpc: "2.0",
    id,
    error: known ? { code: -32000, message: error.message, data } : { code: -32603, message: "Internal error" },
  });
}

/** The library's response as API Gateway's result. */
export async function resultOf(
  response: Response,
  { requestContext }: APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> {
  const headers = Object.fromEntries(response.headers);
  return {
    statusCode: response.status,
    headers: { ...headers, "x-request-id": requestContext.requestId },
    body: await response.text(),
  };
}
