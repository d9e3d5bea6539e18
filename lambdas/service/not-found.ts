import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { errorResponse } from "../http/errors.ts";
import { Problem } from "../http/problem.ts";

/** The answer to unknown paths and methods: 404 in the format of all errors (docs/api.md, Errors). */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const problem = new Problem("not_found", "There is no such route.");
  return errorResponse(problem, event.requestContext.requestId, event.headers.accept);
}
