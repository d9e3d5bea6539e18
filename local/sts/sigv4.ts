import { timingSafeEqual } from "node:crypto";
import { canonicalRequest, headerValue, type SignedRequest, sha256Hex, sign, signingKey } from "./canonical.ts";
import type { CredentialStore, Principal } from "./credentials.ts";
import { type Refusal, type RefusalReason, refusalOf } from "./refusals.ts";
import { type ClaimProblem, isPresigned, readClaim, type SignatureClaim } from "./signature-header.ts";

export interface VerifyOptions {
  /** The service named in the credential's scope. */
  service: "s3" | "sts";
  /** When given, a signature for another region is refused. */
  region?: string;
  credentials: Pick<CredentialStore, "find">;
  now: () => Date;
  /** The hash (or the word in its place) that the caller computed or found for the body. */
  payloadHash: string;
}

/** Signs what follows the headers of a request: the chunks of a streamed upload. */
export interface ChunkSigner {
  seedSignature: string;
  sign(algorithm: string, lines: readonly string[]): string;
}

export interface VerifiedSignature {
  ok: true;
  form: SignatureClaim["form"];
  accessKeyId: string;
  principalArn: string;
  signedHeaders: ReadonlySet<string>;
  chunks: ChunkSigner;
}

export type Verdict = VerifiedSignature | ({ ok: false } & Refusal);

const allowedSkewMs = 15 * 60_000;

/** Compares two signatures in constant time; the second may be any text that a client sent. */
export function sameSignature(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function problemOfTime(claim: SignatureClaim, now: number): RefusalReason | undefined {
  const signedAt = claim.signedAt.getTime();
  if (claim.validSeconds === undefined) return Math.abs(now - signedAt) > allowedSkewMs ? "skewed" : undefined;
  if (signedAt - now > allowedSkewMs) return "not_yet_valid";
  return now >= signedAt + claim.validSeconds * 1000 ? "expired" : undefined;
}

/** An unsigned x-amz-* header could change the request's meaning after it was signed. */
function coversHeaders(request: SignedRequest, signedHeaders: readonly string[]): boolean {
  if (!signedHeaders.includes("host")) return false;
  return Object.keys(request.headers).every((name) => !name.startsWith("x-amz-") || signedHeaders.includes(name));
}

function problemOfScope(claim: SignatureClaim, options: VerifyOptions): RefusalReason | undefined {
  const isRegionRight = options.region === undefined || claim.region === options.region;
  return claim.service === options.service && isRegionRight ? undefined : "wrong_scope";
}

function judge(
  request: SignedRequest,
  claim: SignatureClaim,
  principal: Principal | undefined,
  options: VerifyOptions,
): VerifiedSignature | RefusalReason {
  if (!principal) return claim.sessionToken === undefined ? "unknown_key" : "bad_token";
  if (principal.expiresAt && principal.expiresAt <= options.now()) return "expired_token";
  if (!coversHeaders(request, claim.signedHeaders)) return "unsigned_headers";
  if (claim.signedHeaders.some((name) => headerValue(request.headers, name) === undefined)) return "mismatch";

  const { scope, amzDate, signature } = claim;
  const key = signingKey(principal.secretAccessKey, scope);
  const rule = options.service === "s3" ? "as-sent" : "encoded-twice";
  const canonical = canonicalRequest(request, claim.signedHeaders, options.payloadHash, rule);
  const expected = sign(key, "AWS4-HMAC-SHA256", amzDate, scope, [sha256Hex(canonical)]);
  if (!sameSignature(expected, signature)) return "mismatch";
  return {
    ok: true,
    form: claim.form,
    accessKeyId: claim.accessKeyId,
    principalArn: principal.principalArn,
    signedHeaders: new Set(claim.signedHeaders),
    chunks: { seedSignature: signature, sign: (algorithm, lines) => sign(key, algorithm, amzDate, scope, lines) },
  };
}

function verify(request: SignedRequest, options: VerifyOptions): VerifiedSignature | RefusalReason {
  const claim: SignatureClaim | ClaimProblem = readClaim(request);
  if (typeof claim === "string") return claim;
  const problem = problemOfScope(claim, options) ?? problemOfTime(claim, options.now().getTime());
  if (problem) return problem;
  return judge(request, claim, options.credentials.find(claim.accessKeyId, claim.sessionToken), options);
}

/** Checks an AWS Signature Version 4, in the header or in a presigned address; a refusal carries the service's own error code. */
export function verifySignature(request: SignedRequest, options: VerifyOptions): Verdict {
  const result = verify(request, options);
  return typeof result === "string"
    ? { ok: false, ...refusalOf(options.service, result, isPresigned(request)) }
    : result;
}
