const passingNames =
  /Throttl|TooManyRequests|ThroughputExceeded|RequestLimitExceeded|Timeout|TransactionInProgress|TransactionConflict|ServiceUnavailable|InternalServer|InternalFailure/;
const passingCodes = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/** Faults of the services below that pass by themselves, so that the same call can succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("$fault" in error && error.$fault === "server") return true;
  if ("$retryable" in error && error.$retryable) return true;
  if ("code" in error && (passingCodes.test(String(error.code)) || error.code === "unavailable")) return true;
  return passingNames.test(error.name);
}
