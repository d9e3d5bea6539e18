import type { RouteId } from "../../../api/index.ts";
import { SlipwayError } from "../../../sdk/errors.ts";
import { sleepFor } from "../../../sdk/retry.ts";
import { clientRoutes } from "../../../sdk/routes.ts";
import { send } from "../../../sdk/send.ts";

/** An answer's fields; they are users' and apps' data. */
export type Data = Record<string, unknown>;

export interface Answer {
  data: Data;
  retryAfterSeconds: number | undefined;
  headers: Headers;
}

/** Calls the public routes with the caller's own credential, so that nothing is possible that the API would refuse. */
export interface Caller {
  call(route: RouteId, input?: Data): Promise<Data>;
  answer(route: RouteId, input?: Data): Promise<Answer>;
}

/** Seconds for one call; a tool call has to end before API Gateway's 30 seconds. */
const timeoutSeconds = 24;

export function callerOf(url: string, authorization: string): Caller {
  const connection = {
    baseUrl: url,
    authorize: async () => authorization,
    timeoutSeconds,
    attemptsMax: 1,
    sleep: sleepFor,
  };

  async function answer(id: RouteId, input: Data = {}): Promise<Answer> {
    const route = clientRoutes.find((one) => one.id === id);
    if (!route) throw new Error(`There is no route ${id}.`);
    let received: Omit<Answer, "data"> = { retryAfterSeconds: undefined, headers: new Headers() };
    const onAnswer = (answered: Omit<Answer, "data">) => {
      received = answered;
    };
    const data: Data = Object(await send(connection, route, input, { onAnswer }));
    return { data, retryAfterSeconds: received.retryAfterSeconds, headers: received.headers };
  }

  return { answer, call: async (id, input) => (await answer(id, input)).data };
}

/** The objects in a list of an answer. */
export function listOf(data: Data, field: string): Data[] {
  const found = data[field];
  return Array.isArray(found) ? found.map((one): Data => Object(one)) : [];
}

/** The object in a field of an answer. */
export const objectIn = (data: Data, field: string): Data => Object(data[field]);

export const textIn = (data: Data, field: string): string => (typeof data[field] === "string" ? data[field] : "");

/** The organization that a tool is about: the named one, or the caller's only one. */
export async function organizationOf(caller: Caller, orgId: string | undefined): Promise<string> {
  if (orgId !== undefined) return orgId;
  const organizations = listOf(await caller.call("list-organizations"), "organizations");
  const [first, ...others] = organizations;
  if (first !== undefined && others.length === 0) return textIn(first, "id");
  const known = organizations.map((one) => textIn(one, "id")).join(", ");
  throw new SlipwayError("invalid_request", `Name the organization with orgId${known && `: one of ${known}`}.`);
}
