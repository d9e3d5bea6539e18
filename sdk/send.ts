import { ConnectionError, connectionCode, errorOfAnswer, SlipwayError } from "./errors.ts";
import { parseRetryAfter, type Sleep, withRetries } from "./retry.ts";
import type { ClientRoute } from "./routes.ts";

type AnswerHeaders = Pick<Headers, "get">;

/** Metadata of a response. */
interface Answer {
  status: number;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
  headers: AnswerHeaders;
}

interface FetchOptions {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  signal: AbortSignal;
}

/** The part of the global `fetch` that calls need. */
export type Fetch = (
  url: string,
  options: FetchOptions,
) => Promise<{ status: number; ok: boolean; headers: AnswerHeaders; text(): Promise<string> }>;

export interface CallOptions {
  signal?: AbortSignal;
  /** Makes a POST safe to repeat (docs/api.md, Idempotency); such a call is retried like a GET. At most 255 characters. */
  idempotencyKey?: string;
  /** Called with the metadata of a successful response. */
  onAnswer?: (answer: Answer) => void;
}

/** Schemas that check replies, by route id; zod's have this form. */
export type ReplySchemas = Readonly<Record<string, ReplySchema>>;
interface ReplySchema {
  safeParse(body: unknown): { success: true; data: unknown } | { success: false; error: Error };
}

/** The target of calls. `authorize` returns the Authorization header, which is secret. */
export interface Connection {
  baseUrl: string;
  authorize(): Promise<string>;
  timeoutSeconds: number;
  attemptsMax: number;
  sleep: Sleep;
  /** The global `fetch` when not given. */
  fetch?: Fetch;
  /** Without schemas, a reply is only required to be JSON. */
  replies?: ReplySchemas | undefined;
  /** Gives every POST an Idempotency-Key, so that it can be repeated. */
  makesKeys?: boolean;
}

interface Request {
  method: string;
  /** Path and query, from the service's own root. */
  target: string;
  body: string | undefined;
}

/** Spreads one flat input over path, query and body: fields named in the path or the query go there, all others into the body. */
function requestOf(route: ClientRoute, input: Record<string, unknown>): Request {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = String(rest.get(name) ?? "");
    rest.delete(name);
    // URL parsers resolve "." and ".." as path segments, even when escaped.
    if (/^\.{0,2}$/.test(segment)) throw new TypeError(`${route.id} needs ${name}`);
    return encodeURIComponent(segment);
  });
  const query = new URLSearchParams();
  for (const name of route.query) {
    if (rest.has(name)) query.set(name, String(rest.get(name)));
    rest.delete(name);
  }
  return {
    method: route.method,
    target: query.size === 0 ? path : `${path}?${query}`,
    body: route.hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined,
  };
}

/** Calls a route and parses its reply; rejects with SlipwayError, or with the signal's reason. */
export async function send(
  connection: Connection,
  route: ClientRoute,
  input: Record<string, unknown>,
  options: CallOptions,
): Promise<unknown> {
  const request = requestOf(route, input);
  const isPost = route.method === "POST";
  const idempotencyKey =
    options.idempotencyKey ?? (isPost && connection.makesKeys ? globalThis.crypto.randomUUID() : undefined);
  const repeatable = route.method === "GET" || (isPost && idempotencyKey !== undefined);
  const call = { ...options, ...(idempotencyKey !== undefined && { idempotencyKey }) };
  const { body, ...answer } = await withRetries(() => exchange(connection, request, call), {
    attemptsMax: repeatable ? connection.attemptsMax : 1,
    sleep: connection.sleep,
    signal: options.signal,
  });
  const reply = check(connection.replies?.[route.id], body);
  if (!reply.success) {
    const message = `The service's answer to ${route.id} does not match the contract.`;
    throw new SlipwayError("unexpected_reply", message, { ...answer, body, cause: reply.error });
  }
  options.onAnswer?.(answer);
  return reply.data;
}

function check(schema: ReplySchema | undefined, body: unknown) {
  if (schema) return schema.safeParse(body);
  // Every reply is an object but for ping's; a text is a proxy's page.
  const isReply = (typeof body === "object" && body !== null) || body === "pong";
  return isReply ? { success: true as const, data: body } : { success: false as const, error: undefined };
}

async function exchange(
  { baseUrl, authorize, timeoutSeconds, fetch = globalThis.fetch }: Connection,
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
      headers: response.headers,
    };
    const reply = parseJson(await response.text());
    if (!response.ok) throw errorOfAnswer(answer, reply);
    return { ...answer, body: reply };
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new ConnectionError("timeout", `The service at ${baseUrl} did not answer within ${timeoutSeconds} s.`);
    }
    const message = `The service at ${baseUrl} could not be reached (${connectionCode(error)}).`;
    throw new ConnectionError("network", message, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
