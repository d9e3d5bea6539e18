import { connectionCode } from "../sdk/errors.ts";
import type { Service } from "./configuration.ts";
import { Failure } from "./failure.ts";

const timeoutSeconds = 35;

/** Sends one request with the service's credential; JSON answers are indented. */
export async function callRaw(
  { baseUrl, authorization }: Pick<Service, "baseUrl" | "authorization">,
  request: { method: string; path: string; body: string | undefined; signal: AbortSignal },
): Promise<{ ok: boolean; text: string }> {
  const { method, path, body, signal } = request;
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        accept: "application/json",
        authorization,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
      // A redirect would carry the credential to an address that is not configured.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    });
    return { ok: response.ok, text: indented(await response.text()) };
  } catch (error) {
    signal.throwIfAborted();
    throw new Failure(`The service at ${baseUrl} could not be reached (${connectionCode(error)}).`, { cause: error });
  }
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
