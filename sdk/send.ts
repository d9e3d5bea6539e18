import type { Route } from "../api/route.ts";
import { connectionCode, errorOfAnswer, SlipwayError } from "./errors.ts";
import { parseRetryAfter, type Sleep, withRetries } from "./retry.ts";

/** Metadata of a response. */
interface Answer {
  status: number;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Makes a POST safe to repeat (docs/api.md, Idempotency); such a call is retried like a GET. At most 255 characters. */
  idempotencyKey?: string;
  /** Called with the metadata of a successful response. */
  onAnswer?: (answer: Answer) => void;
}

/** The target of calls. `authorize` returns the Authorization header, which is secret. */
export interface Connection {
  baseUrl: string;
  authorize(): Promise<string>;
  timeoutSeconds: number;
  attemptsMax: number;
  sleep: Sleep;
}

interface Request {
  method: string;
  /** Path and query, from the service's own root. */
  target: string;
  body: string | undefined;
}

/** Spreads one flat input over path, query and body: fields named in the path or the query go there, all others into the body. */
function requestOf(route: Route, input: Record<string, unknown>): Request {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = String(rest.get(name) ?? "");
    rest.delete(name);
    // URL parsers resolve "." and ".." as path segments, even when escaped.
    if (/^\.{0,2}$/.test(segment)) throw new TypeError(`${route.id} needs ${name}`);
    return encodeURIComponent(segment);
  });
  const query = new URLSearchParams();
  for (const name of Object.keys(route.definition.query?.shape ?? {})) {
    if (rest.has(name)) query.set(name, String(rest.get(name)));
    rest.delete(name);
  }
  return {
    method: route.method,
    target: query.size === 0 ? path : `${path}?${query}`,
    body: route.definition.body === undefined ? undefined : JSON.stringify(Object.fromEntries(rest)),
  };
}

/** Calls a route and parses its reply; rejects with SlipwayError, or with the signal's reason. */
export async function send(
  connection: Connection,
  route: Route,
  input: Record<string, unknown>,
  options: CallOptions,
): Promise<unknown> {
  const request = requestOf(route, input);
  const repeatable = route.method === "GET" || (route.method === "POST" && options.idempotencyKey !== undefined);
  const { body, ...answer } = await withRetries(() => exchange(connection, request, options), {
    attemptsMax: repeatable ? connection.attemptsMax : 1,
    sleep: connection.sleep,
    signal: options.signal,
  });
  const reply = route.definition.reply.safeParse(body);
  if (!reply.success) {
    const message = `The service answered ${route.id} with something that its contract does not know.`;
    throw new SlipwayError("unexpected_reply", message, { ...answer, body, cause: reply.error });
  }
  options.onAnswer?.(answer);
  return reply.data;
}

async function exchange(
  { baseUrl, authorize, timeoutSeconds }: Connection,
  { method, target, body }: Request,
  { signal, idempotencyKey }: CallOptions,
): Promise<Answer & { body: unknown }> {
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const authorization = await authorize();
    const response = await fetch(`${baseUrl}${target}`, {
      method,
      headers: {
        accept: "application/json",
        authorization,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      ...(body !== undefined && { body }),
      // A redirect would carry the key to an address that is not configured.
      redirect: "manual",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const answer = {
      status: response.status,
      requestId: response.headers.get("x-request-id") ?? undefined,
      retryAfterSeconds: parseRetryAfter(response.headers.get("retry-after"), new Date()),
    };
    const reply = parseJson(await response.text());
    if (!response.ok) throw errorOfAnswer(answer, reply);
    return { ...answer, body: reply };
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new SlipwayError("timeout", `The service at ${baseUrl} did not answer within ${timeoutSeconds} s.`);
    }
    const message = `The service at ${baseUrl} could not be reached (${connectionCode(error)}).`;
    throw new SlipwayError("network", message, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
