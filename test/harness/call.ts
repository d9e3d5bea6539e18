/** Calls of the API. Tests whose service is another process import this file, because service.ts takes a second to load. */

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answered
  body: any;
}

export interface CallOptions {
  body?: unknown;
  /** The body as text or bytes, instead of JSON. */
  text?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** `null` sends no credential. */
  bearer?: string | null;
}

/** Sends one request to a service and parses the JSON body of its answer. */
export async function callAt(
  baseUrl: string,
  bearer: string | null,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const credential = options.bearer === undefined ? bearer : options.bearer;
  const body = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
      ...(options.body !== undefined && { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(body !== undefined && { body: body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}
