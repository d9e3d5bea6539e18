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
  override readonly name: string = "SlipwayError";
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

/** 400, 413, 422: the request breaks a rule; `issues` names each field. */
export class InvalidRequestError extends SlipwayError {
  override readonly name = "InvalidRequestError";
}

/** 401: the credential is missing, wrong, revoked or expired. */
export class AuthenticationError extends SlipwayError {
  override readonly name = "AuthenticationError";
}

/** 403: the caller may not do this; `body` names who may. */
export class PermissionError extends SlipwayError {
  override readonly name = "PermissionError";
}

/** 404: there is no such thing, or it belongs to others; 410: it existed. */
export class NotFoundError extends SlipwayError {
  override readonly name = "NotFoundError";
}

/** 409: the current state does not allow the call; `body` has the reason, such as the running build. */
export class ConflictError extends SlipwayError {
  override readonly name = "ConflictError";
}

/** 429: too many requests; `retryAfterSeconds` says when to try again. */
export class RateLimitError extends SlipwayError {
  override readonly name = "RateLimitError";
}

/** 500 and above: a fault of the service. */
export class ServiceError extends SlipwayError {
  override readonly name = "ServiceError";
}

/** No answer arrived: codes `network` and `timeout`. */
export class ConnectionError extends SlipwayError {
  override readonly name = "ConnectionError";
}

/** A deployment that did not end as `ready`; `body` is the build, with the reason in its `error`. */
export class DeploymentError extends SlipwayError {
  override readonly name = "DeploymentError";
}

function classOf(status: number): typeof SlipwayError {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return InvalidRequestError;
    case 401:
      return AuthenticationError;
    case 403:
      return PermissionError;
    case 404:
    case 410:
      return NotFoundError;
    case 409:
      return ConflictError;
    case 429:
      return RateLimitError;
    default:
      return status >= 500 ? ServiceError : SlipwayError;
  }
}

const text = (value: unknown) => (typeof value === "string" ? value : undefined);

function isIssue(value: unknown): value is Issue {
  return typeof value === "object" && value !== null && "path" in value && "message" in value;
}

/** The fields of an error's body; a proxy's page has none of them. */
function problemOf(body: unknown) {
  const fields: Record<string, unknown> = typeof body === "object" && body !== null ? { ...body } : {};
  const { message, code, requestId, issues } = fields;
  const listed = Array.isArray(issues) ? issues.filter(isIssue) : undefined;
  return { message: text(message), code: text(code), requestId: text(requestId), issues: listed };
}

/** The codes of answers that API Gateway gives by itself, in a shape of its own (docs/api.md, Errors). */
const gatewayCodes: Readonly<Record<number, string>> = {
  413: "body_too_large",
  429: "too_many_requests",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

/** The error of a refused call. An answer that is not the service's own (API Gateway's, a proxy's page) gets the code of its status. */
export function errorOfAnswer(
  answer: { status: number; requestId: string | undefined; retryAfterSeconds: number | undefined },
  body: unknown,
): SlipwayError {
  const { status, retryAfterSeconds } = answer;
  const { message, code, issues, requestId } = problemOf(body);
  return new (classOf(status))(
    code ?? gatewayCodes[status] ?? "unexplained",
    message ?? `The service answered ${status} without an explanation.`,
    {
      status,
      issues,
      requestId: requestId ?? answer.requestId,
      retryAfterSeconds,
      body,
    },
  );
}

/** Node's error code of a failed connection (ECONNREFUSED), which is more helpful than "fetch failed" and contains no secret. */
export function connectionCode(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if ("code" in cause && typeof cause.code === "string" && /^[A-Z][A-Z0-9_]+$/.test(cause.code)) return cause.code;
  }
  return "no answer";
}
