const transientNames =
  /Throttl|TooManyRequests|ThroughputExceeded|RequestLimitExceeded|Timeout|TransactionInProgress|TransactionConflict|ServiceUnavailable|InternalServer|InternalFailure/;
const transientCodes = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/** The status of a response that the SDK could not parse, such as a proxy's error page. */
function isServerError(error: Error): boolean {
  const metadata = "$metadata" in error ? error.$metadata : undefined;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return false;
  return typeof metadata.httpStatusCode === "number" && metadata.httpStatusCode >= 500;
}

/** Transient errors of AWS services: the same call can succeed a moment later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("$fault" in error && error.$fault === "server") return true;
  if (isServerError(error)) return true;
  if ("$retryable" in error && error.$retryable) return true;
  if ("code" in error && (transientCodes.test(String(error.code)) || error.code === "unavailable")) return true;
  // The request's deadline aborted the call.
  if (error.name === "AbortError") return true;
  return transientNames.test(error.name);
}

/** Several attempts met the same transient fault; the caller may repeat the whole request. */
export class RetriesExhausted extends Error {
  override readonly name = "RetriesExhausted";
  readonly $retryable = true;
}
