import type { PresentationProblem } from "./presented-signature.ts";

export type RefusalReason =
  | PresentationProblem
  | "wrong_scope"
  | "skewed"
  | "not_yet_valid"
  | "expired"
  | "unknown_key"
  | "bad_token"
  | "expired_token"
  | "unsigned_headers"
  | "mismatch";

/** The reason why a signature was refused, with the error of the called service. */
export interface Refusal {
  reason: RefusalReason;
  code: string;
  status: number;
  message: string;
}

type Wording = readonly [code: string, status: number, message: string];

const mismatch = "The request signature we calculated does not match the signature you provided.";
const oneMechanism = "Only one auth mechanism allowed; use the X-Amz-* query parameters or the Authorization header.";

const s3: Record<RefusalReason, Wording> = {
  missing: ["AccessDenied", 403, "Access Denied"],
  two_mechanisms: ["InvalidArgument", 400, oneMechanism],
  malformed: ["AuthorizationHeaderMalformed", 400, "The authorization header or query that you provided is not valid."],
  wrong_scope: ["AuthorizationHeaderMalformed", 400, "The credential's scope names another region or service."],
  skewed: ["RequestTimeTooSkewed", 403, "The difference between the request time and the current time is too large."],
  not_yet_valid: ["AccessDenied", 403, "Request is not valid yet"],
  expired: ["AccessDenied", 403, "Request has expired"],
  unknown_key: ["InvalidAccessKeyId", 403, "The AWS Access Key Id you provided does not exist in our records."],
  bad_token: ["InvalidToken", 400, "The provided token is malformed or otherwise invalid."],
  expired_token: ["ExpiredToken", 400, "The provided token has expired."],
  unsigned_headers: ["AccessDenied", 403, "There were headers present in the request which were not signed"],
  mismatch: ["SignatureDoesNotMatch", 403, `${mismatch} Check your key and signing method.`],
};

const invalidToken: Wording = ["InvalidClientTokenId", 403, "The security token included in the request is invalid."];

const sts: Record<RefusalReason, Wording> = {
  missing: ["MissingAuthenticationToken", 403, "Request is missing Authentication Token"],
  two_mechanisms: ["IncompleteSignature", 403, oneMechanism],
  malformed: ["IncompleteSignature", 403, "The request signature does not conform to AWS standards."],
  wrong_scope: ["SignatureDoesNotMatch", 403, "Credential should be scoped to correct service: 'sts'."],
  skewed: ["SignatureDoesNotMatch", 403, "Signature expired: the request was not signed within 15 minutes of now."],
  not_yet_valid: ["SignatureDoesNotMatch", 403, "Signature not yet current."],
  expired: ["SignatureDoesNotMatch", 403, "Signature expired."],
  unknown_key: invalidToken,
  bad_token: invalidToken,
  expired_token: ["ExpiredToken", 403, "The security token included in the request is expired"],
  unsigned_headers: ["SignatureDoesNotMatch", 403, "The host and every x-amz-* header must be signed."],
  mismatch: ["SignatureDoesNotMatch", 403, `${mismatch} Check your AWS Secret Access Key and signing method.`],
};

const unrecognized: Wording = [
  "UnrecognizedClientException",
  403,
  "The security token included in the request is invalid.",
];

/** The AWS JSON and REST-JSON protocols. */
const json: Record<RefusalReason, Wording> = {
  missing: ["MissingAuthenticationTokenException", 403, "Missing Authentication Token"],
  two_mechanisms: ["IncompleteSignatureException", 403, oneMechanism],
  malformed: ["IncompleteSignatureException", 403, "The request signature does not conform to AWS standards."],
  wrong_scope: ["InvalidSignatureException", 403, "Credential should be scoped to a valid region."],
  skewed: ["InvalidSignatureException", 403, "Signature expired: the request was not signed within 15 minutes of now."],
  not_yet_valid: ["InvalidSignatureException", 403, "Signature not yet current."],
  expired: ["InvalidSignatureException", 403, "Signature expired."],
  unknown_key: unrecognized,
  bad_token: unrecognized,
  expired_token: ["ExpiredTokenException", 403, "The security token included in the request is expired"],
  unsigned_headers: ["InvalidSignatureException", 403, "The host and every x-amz-* header must be signed."],
  mismatch: ["InvalidSignatureException", 403, `${mismatch} Check your AWS Secret Access Key and signing method.`],
};

const wordings = { s3, sts, json };

/** The service whose error codes are used; `json` means all services of the AWS JSON and REST-JSON protocols. */
export type RefusalStyle = keyof typeof wordings;

/** The service's error for a reason. */
export function refusalOf(style: RefusalStyle, reason: RefusalReason, isPresigned: boolean): Refusal {
  const [usualCode, status, message] = wordings[style][reason];
  const isBadQuery = isPresigned && usualCode === "AuthorizationHeaderMalformed";
  return { reason, code: isBadQuery ? "AuthorizationQueryParametersError" : usualCode, status, message };
}
