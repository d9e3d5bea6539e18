import * as z from "zod";

const problem = z.object({
  message: z.string().optional(),
  code: z.string().optional(),
  requestId: z.string().optional(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

export interface Issue {
  path: string;
  message: string;
}

interface SlipwayErrorFields {
  status?: number | undefined;
  issues?: readonly Issue[] | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  body?: unknown;
  cause?: unknown;
}

/**
 * A call that did not succeed. `status` is the HTTP status, undefined if no response arrived; `code` is the service's stable error code
 * (docs/api.md, Errors), or `network`, `timeout`, `unexpected_reply`, `upload_refused` for errors that the client detects; `body` is the
 * answer as received, such as the running build beside a 409. Never holds a credential or an upload address.
 */
export class SlipwayError extends Error {
  override readonly name = "SlipwayError";
  readonly code: string;
  readonly status: number | undefined;
  readonly issues: readonly Issue[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly body: unknown;

  constructor(code: string, message: string, fields: SlipwayErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = code;
    this.status = fields.status;
    this.issues = fields.issues ?? [];
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.body = fields.body;
  }
}

/** The error of a refused call; of a response that is not the service's own (a proxy's page) only the status is kept. */
export function errorOfAnswer(
  answer: { status: number; requestId: string | undefined; retryAfterSeconds: number | undefined },
  body: unknown,
): SlipwayError {
  const { status, retryAfterSeconds } = answer;
  const { message, code, issues, requestId } = problem.safeParse(body).data ?? {};
  return new SlipwayError(code ?? "unexplained", message ?? `The service answered ${status} without an explanation.`, {
    status,
    issues,
    requestId: requestId ?? answer.requestId,
    retryAfterSeconds,
    body,
  });
}

/** Node's error code of a failed connection (ECONNREFUSED), which is more helpful than "fetch failed" and contains no secret. */
export function connectionCode(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ("code" in cause && typeof cause.code === "string" && /^[A-Z][A-Z0-9_]+$/.test(cause.code)) return cause.code;
  }
  return "no answer";
}
