import type middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { errorTable } from "../../api/errors.ts";
import { DatabaseResuming } from "../aws/errors.ts";
import { isTransient } from "../aws/transient.ts";
import { databaseResuming, Problem, unavailable } from "./problem.ts";

/** What an error means to an API caller; an unknown error says nothing. */
export function problemOf(error: unknown): Problem {
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

/** The answer to an error, in the service's own shape or as RFC 9457 if the client asks for it (docs/api.md, Errors). */
export function errorResponse(
  error: unknown,
  requestId: string,
  accept: string | undefined,
): APIGatewayProxyStructuredResultV2 {
  const problem = problemOf(error);
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

/** Answers every error of an HTTP request. */
export function httpErrors(): middy.MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> {
  return {
    onError: ({ event, error }) => errorResponse(error, event.requestContext.requestId, event.headers.accept),
  };
}

/** A transient error of an AWS service; the state machine retries. The name is the ASL error. */
class TransientFault extends Error {
  override readonly name = "TransientFault";
}

/** Names the errors of a step for the state machine's retry rules. */
export function stepErrors(): middy.MiddlewareObj {
  return {
    onError: ({ error }) => {
      throw isTransient(error) ? new TransientFault(error instanceof Error ? error.message : String(error)) : error;
    },
  };
}
