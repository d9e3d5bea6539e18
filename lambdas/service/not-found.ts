import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { errorResponse } from "../http/errors.ts";
import { Problem } from "../http/problem.ts";

/** The answer to every path and method that is no route: 404 in the shape of every other error (docs/api.md, Errors). */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const problem = new Problem("not_found", "There is no such route.");
  return errorResponse(problem, event.requestContext.requestId, event.headers.accept);
}
