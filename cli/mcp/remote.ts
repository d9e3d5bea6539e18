import * as z from "zod";
import { connectionCode } from "../../sdk/errors.ts";
import type { Service } from "../configuration.ts";
import { Failure } from "../failure.ts";

/** An error that the service's own server answered. */
export class RemoteError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const answerSchema = z.union([
  z.object({ result: z.looseObject({}) }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
]);
const refusalSchema = z.object({ message: z.string() });

/** A call of the service takes at most half a minute. */
const timeoutSeconds = 35;

async function exchange(service: Service, body: string, signal: AbortSignal) {
  try {
    const response = await fetch(`${service.baseUrl}/mcp`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        authorization: service.authorization,
      },
      body,
      // A redirect would carry the credential to an address that is not configured.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(`The service at ${service.baseUrl} could not be reached (${connectionCode(error)}).`, {
      cause: error,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends one request to the service's own server (`POST /mcp`) and returns its result. Throws RemoteError and Failure. */
export async function callRemote(
  service: Service,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { status, text } = await exchange(service, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), signal);
  const body = parsed(text);
  const answer = answerSchema.safeParse(body).data;
  if (answer === undefined) {
    const hint = status === 401 ? " Check the credential, or run: slipway login" : "";
    const message = refusalSchema.safeParse(body).data?.message ?? `The service answered ${status}.`;
    throw new Failure(`${message}${hint}`);
  }
  if ("error" in answer) throw new RemoteError(answer.error.code, answer.error.message);
  return answer.result;
}
