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
  headers: Pick<Headers, "get">;
}

/** Calls the public routes with the caller's own credential, so that nothing is possible that the API would refuse. */
export interface Caller {
  call(route: RouteId, input?: Data): Promise<Data>;
  answer(route: RouteId, input?: Data): Promise<Answer>;
  /** What the API said of the credential; "none" before it has said anything. */
  proof(): "none" | "valid" | "refused";
  /** Aborted when the request's time is over. */
  signal: AbortSignal;
}

/** Longer than the deadline of every request; `signal` ends a call. */
const timeoutSeconds = 600;

export function callerOf(url: string, authorization: string, signal: AbortSignal): Caller {
  let proof: ReturnType<Caller["proof"]> = "none";
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
    refuseNoIds(route.path, input);
    let received: Omit<Answer, "data"> = { retryAfterSeconds: undefined, headers: new Headers() };
    const onAnswer = (answered: Omit<Answer, "data">) => {
      received = answered;
    };
    try {
      const data: Data = Object(await send(connection, route, input, { onAnswer, signal }));
      proof = "valid";
      return { data, retryAfterSeconds: received.retryAfterSeconds, headers: received.headers };
    } catch (error) {
      if (error instanceof SlipwayError) proof = proofOf(error.status) ?? proof;
      throw error;
    }
  }

  return { answer, call: async (id, input) => (await answer(id, input)).data, proof: () => proof, signal };
}

/** The credential is checked before everything else, so that every other refusal means that it is valid. */
function proofOf(status: number | undefined): "valid" | "refused" | undefined {
  if (status === 401) return "refused";
  return status !== undefined && status < 500 && status !== 429 ? "valid" : undefined;
}

/** Addresses cannot hold these as a segment. */
function refuseNoIds(path: string, input: Data): void {
  for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
    if (/^\.{0,2}$/.test(String(input[name] ?? "")))
      throw new SlipwayError("invalid_request", `${name} must be an id.`);
  }
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
