import middy from "@middy/core";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import type { PathParams, Route } from "../../api/route.ts";
import type { Places } from "../table/reader.ts";
import { type AuthenticatedContext, authenticate, inputProblem, validate } from "./authenticate.ts";
import type { Call, Reply, Uses } from "./call.ts";
import { withDeadline } from "./deadline.ts";
import { httpErrors, problemOf } from "./errors.ts";
import { idempotency } from "./idempotency.ts";
import { errorFields, type LogEntry, logErrors } from "./log.ts";
import { httpInput, parse } from "./parse.ts";
import { type LazyCapability, prepareTools, TableClient, type Tools, type ToolsContext, withTools } from "./tools.ts";

export interface EndpointOptions<R extends Route> {
  /** Adds to a stored answer the values that must not be stored, such as presigned addresses. */
  replay?: (reply: Reply<R>, call: Call<R>, tools: Tools<Uses<R>>) => Promise<Reply<R>>;
  /** Rows that must exist: checked before permissions and input. `userId` is the caller's, if it is a user. */
  exists?: (params: PathParams<R["path"]>, userId: string | undefined) => Places;
  /** The capabilities that most requests do not need. */
  seldom?: readonly (LazyCapability & Uses<R>)[];
}

/**
 * Turns a route and its handler into a Lambda handler for API Gateway's HTTP API (payload 2.0). The middlewares are in the
 * order of checks: 401, 404, 403, 400 (docs/api.md, Order of checks).
 */
export function endpoint<const R extends Route>(
  route: R,
  handle: (call: Call<R>, tools: Tools<Uses<R>>) => Promise<Reply<R>>,
  { replay = async (reply) => reply, exists = () => ({}), seldom = [] }: EndpointOptions<R> = {},
) {
  type Context = AuthenticatedContext & ToolsContext<Tools<Uses<R>>>;
  const client = new TableClient();
  const ready = prepareTools<Uses<R>>(route.definition.uses as readonly Uses<R>[], client, seldom);

  async function answer(
    { input, access, tools }: Context,
    work: typeof handle,
  ): Promise<APIGatewayProxyStructuredResultV2> {
    const headers: Record<string, string> = { "content-type": "application/json", "x-request-id": input.requestId };
    const cookies: string[] = [];
    const call: Call<R> = {
      params: input.params as PathParams<R["path"]>,
      query: input.query as Call<R>["query"],
      body: input.body as Call<R>["body"],
      text: input.text,
      access: access as Call<R>["access"],
      credential: input.credential as Call<R>["credential"],
      headers: input.headers,
      cookies: input.cookies,
      now: input.now,
      refusal: (issues) => inputProblem(input, issues),
      header: (name, value) => {
        headers[name] = value;
      },
      setCookie: (cookie) => {
        if (!route.definition.cookie) throw new Error(`${route.id} does not declare that it sets cookies`);
        cookies.push(cookie);
      },
    };
    const body = JSON.stringify(await work(call, tools));
    return { statusCode: route.definition.status, body, headers, ...(cookies.length > 0 && { cookies }) };
  }

  const chain = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Context>({
    timeoutEarlyInMillis: 0,
  })
    .use(httpErrors())
    .use(logErrors(serverFault))
    .use(parse((event: APIGatewayProxyEventV2) => httpInput(route, event)))
    .use(
      idempotency(route, (stored, context: Context) =>
        answer(context, (call, tools) => replay(stored as Reply<R>, call, tools)),
      ),
    )
    .use(authenticate(route, (params, userId) => exists(params as PathParams<R["path"]>, userId), client))
    .use(withTools(ready))
    .use(validate(route))
    .handler((_event: APIGatewayProxyEventV2, context: Context) => answer(context, handle));
  return withDeadline((event, context) => chain(event, context as Context));
}

/** What the log says of an error that is the service's own, and of no other. */
function serverFault(error: unknown, { requestContext }: APIGatewayProxyEventV2): LogEntry | undefined {
  const { status, code, message, cause } = problemOf(error);
  if (status < 500) return undefined;
  return { message, fields: { requestId: requestContext.requestId, code, ...errorFields(cause ?? error) } };
}
