import { type ErrorCode, errorTable } from "../../api/errors.ts";

export interface Issue {
  path: string;
  message: string;
}

/** An error with a code of the contract; thrown where it is known, and translated to HTTP by `endpoint`. */
export class Problem extends Error {
  readonly code: ErrorCode;
  /** Fields that stand in the body beside status, message, code and requestId. */
  readonly fields: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    extra: { fields?: Record<string, unknown>; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.code = code;
    this.fields = extra.fields ?? {};
    this.headers = extra.retryAfterSeconds === undefined ? {} : { "retry-after": String(extra.retryAfterSeconds) };
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** One body for every invalid credential, which does not say what is wrong with it (docs/api.md, Errors). */
export function unauthorized(): Problem {
  return new Problem("unauthorized", "A valid credential is required.");
}

/** One body for everything that does not exist or is not the caller's (docs/api.md, Errors). */
export function notFound(): Problem {
  return new Problem("not_found", "There is no such resource.");
}

/** Refuses requests from other sites' pages: the browser could add the user's cookie, or the page could hold a token. */
export function foreignOrigin(): Problem {
  return new Problem("foreign_origin", "Requests from pages of another site are refused.");
}

/** The key was used before, with another body (docs/api.md, Idempotency). */
export function idempotencyMismatch(): Problem {
  return new Problem("idempotency_mismatch", "This Idempotency-Key was already used with another request body.");
}

export function invalid(issues: Issue[]): Problem {
  const rules = issues.map((issue) => (issue.path ? `${issue.path} ${issue.message}` : issue.message)).join("; ");
  return new Problem("invalid_request", `The request breaks a rule: ${rules}.`, { fields: { issues } });
}

/** A temporary error: the caller may repeat the same request. */
export function unavailable(cause?: unknown): Problem {
  return new Problem("unavailable", "The service could not complete the request; please retry.", {
    retryAfterSeconds: 1,
    cause,
  });
}

/** A paused database did not resume within the request's time. */
export function databaseResuming(cause: { retryAfterSeconds: number }): Problem {
  return new Problem("database_resuming", "The database was paused and is resuming; please retry.", {
    retryAfterSeconds: cause.retryAfterSeconds,
    cause,
  });
}
