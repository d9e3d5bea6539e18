import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import { runWithin } from "../aws/deadline.ts";
import { errorResponse } from "./errors.ts";
import { log } from "./log.ts";
import { unavailable } from "./problem.ts";

/** Before the function's own time-out, so that the client gets an answer and running work is aborted instead of frozen. */
const marginMs = 3_000;
/** How long an aborted handler may take to answer by itself. */
const graceMs = 1_000;

type Handler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2 | undefined>;

/**
 * One deadline for a request, 22 s after its start on AWS, over all attempts of all AWS calls that it makes. The calls are
 * aborted, and the client gets 503 with Retry-After. API Gateway gives up after 29 s, which leaves 6 s for a cold start.
 */
export function withDeadline(handler: Handler): Handler {
  return async (event, context) => {
    const deadline = new AbortController();
    const late = Promise.withResolvers<APIGatewayProxyStructuredResultV2>();
    const { requestId } = event.requestContext;
    const ms = context.getRemainingTimeInMillis() - marginMs;
    const abort = setTimeout(() => deadline.abort(), ms);
    const giveUp = setTimeout(() => {
      log("error", "The request did not end at its deadline", { requestId });
      late.resolve(errorResponse(unavailable(), requestId, event.headers.accept));
    }, ms + graceMs);
    try {
      return await Promise.race([runWithin(deadline.signal, () => handler(event, context)), late.promise]);
    } finally {
      clearTimeout(abort);
      clearTimeout(giveUp);
    }
  };
}
