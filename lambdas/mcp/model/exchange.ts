import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** API Gateway's event as the standard's request, which the protocol's library takes. */
export function requestOf(event: APIGatewayProxyEventV2, url: string): Request {
  const { method, path } = event.requestContext.http;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers)) if (value !== undefined) headers.set(name, value);
  const body =
    event.body === undefined ? undefined : Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  return new Request(`${url}${path}`, { method, headers, ...(method === "POST" && { body: body ?? "" }) });
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
