import type { APIGatewayProxyEventV2, Context } from "aws-lambda";

/** A function of a route, to be called without the service. */
export type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<{ statusCode?: number; body?: string; headers?: Record<string, string> }>;

interface Sent {
  path?: string;
  headers?: object;
  /** The values of the names in the route's path. */
  params?: object;
  query?: object;
  text?: string;
}

export const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` });

/** Calls a function as API Gateway does, with a POST unless it says otherwise. */
export async function invoke(handler: Handler, { path = "/", headers = {}, params = {}, query = {}, text }: Sent) {
  const event = {
    rawPath: path,
    headers,
    pathParameters: params,
    queryStringParameters: query,
    ...(text !== undefined && { body: text }),
    isBase64Encoded: false,
    requestContext: { requestId: "r", http: { method: "POST", path } },
  } as unknown as APIGatewayProxyEventV2;
  const answer = await handler(event, { getRemainingTimeInMillis: () => 10_000 } as Context);
  return { status: answer.statusCode, headers: answer.headers ?? {}, body: JSON.parse(answer.body ?? "") };
}
