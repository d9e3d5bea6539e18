import type middy from "@middy/core";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { callerCapabilities, type Route, recordsEvents } from "../../api/route.ts";
import type { Places } from "../table/reader.ts";
import { type Access, accessFor } from "./access.ts";
import { changeOf } from "./events.ts";
import type { IdempotencyContext } from "./idempotency.ts";
import type { HttpInput, ParsedContext } from "./parse.ts";
import { userOf } from "./presented-credential.ts";
import { type Issue, invalid, type Problem, unauthorized } from "./problem.ts";
import { ruleOf } from "./proof.ts";
import { prepareTools, type TableClient } from "./tools.ts";

export type AuthenticatedContext = ParsedContext<HttpInput> &
  IdempotencyContext & {
    /** Absent only on routes that are called without a credential. */
    access?: (Access & { proved(): boolean }) | undefined;
  };
type Middleware = middy.MiddlewareObj<APIGatewayProxyEventV2, unknown, Error, AuthenticatedContext>;

/**
 * Refuses a request without a credential and binds the credential to the table. The proof itself is part of the
 * handler's own read or write, so that it costs no round trip; an answer without a proof is an internal error.
 */
export function authenticate(
  route: Route,
  exists: (params: HttpInput["params"], userId: string | undefined) => Places,
  client: TableClient,
): Middleware {
  const { credential: needed, uses } = route.definition;
  if (needed === "none") return { before: () => undefined };
  const rule = ruleOf(route);
  const callerTools = prepareTools(callerCapabilities, client);
  const writerTools = uses.includes("table:write") ? prepareTools(["table:write"], client) : undefined;
  const eventTools = recordsEvents(route) ? prepareTools(["events:record"], client) : undefined;
  return {
    async before({ context }) {
      const { input, idempotencyKey } = context;
      const { credential, params, now } = input;
      if (!credential) throw unauthorized();
      const [caller, writer, recorder] = await Promise.all([callerTools(), writerTools?.(), eventTools?.()]);
      const request = {
        credential,
        now,
        orgId: params.orgId,
        projectId: params.projectId,
        userId: params.userId,
        tokenId: params.tokenId,
        rule,
        exists: exists(params, userOf(credential)),
        change: changeOf(route, params),
        idempotencyKey,
      };
      const { table: reader, keyUses } = caller;
      context.access = accessFor(request, { reader, keyUses, writer: writer?.table, events: recorder?.events });
    },
    after({ context }) {
      if (!context.access?.proved()) throw new Error(`${route.id} answered without proving its caller`);
    },
  };
}

/** The answer to an input that breaks a rule: the rules found by `parse` and `issues`; `undefined` if there is none. */
export function inputProblem({ issues, tooLarge }: HttpInput, more: Issue[] = []): Problem | undefined {
  const all = [...issues, ...more];
  return tooLarge ?? (all.length > 0 ? invalid(all) : undefined);
}

/** Refuses a bad input with 400 or 413, after the 401, 404 and 403 that come before it. */
export function validate({ definition }: Route): Middleware {
  return {
    async before({ context }) {
      const problem = definition.lateValidation ? undefined : inputProblem(context.input);
      if (!problem) return;
      await context.access?.read();
      throw problem;
    },
  };
}
