import { timingSafeEqual } from "node:crypto";
import { canonicalRequest, headerValue, type SignedRequest, sha256Hex, sign, signingKey } from "./canonical.ts";
import { isPresigned, type PresentedSignature, readSignature } from "./presented-signature.ts";
import { type Refusal, type RefusalReason, type RefusalStyle, refusalOf } from "./refusals.ts";

/** The principal of an access key, and the secret of its signatures. */
export interface Principal {
  secretAccessKey: string;
  sessionToken?: string;
  principalArn: string;
  /** Absent for the root key, which does not expire. */
  expiresAt?: Date;
  /** What the session policy allows; absent for a session without one. */
  allows?(action: string, resource: string): boolean;
}

/** Finds the principal of an access key; undefined if the key is unknown or the session token does not belong to it. */
export interface Keys {
  find(accessKeyId: string, sessionToken?: string): Principal | undefined;
}

export interface VerifyOptions {
  /** Also the required service in the credential's scope; with `json`, any service is accepted. */
  style: RefusalStyle;
  /** When given, a signature for another region is refused. */
  region?: string;
  credentials: Keys;
  now: () => Date;
}

/** Signs the chunks and the trailer of a streamed upload. */
export interface ChunkSigner {
  seedSignature: string;
  sign(algorithm: string, lines: readonly string[]): string;
}

export interface VerifiedSignature {
  ok: true;
  form: PresentedSignature["form"];
  accessKeyId: string;
  principalArn: string;
  signedHeaders: ReadonlySet<string>;
  /** Whether the caller's session policy allows an action; always true without a policy. */
  allows(action: string, resource: string): boolean;
  chunks: ChunkSigner;
}

export type Verdict = VerifiedSignature | ({ ok: false } & Refusal);

/** A signer with a valid key, time and header list; the signature itself has not been compared yet. */
interface Signer {
  presented: PresentedSignature;
  principal: Principal;
}

const allowedSkewMs = 15 * 60_000;

/** Compares two signatures in constant time; the second may be any text that a client sent. */
export function sameSignature(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function problemOfTime(presented: PresentedSignature, now: number): RefusalReason | undefined {
  const signedAt = presented.signedAt.getTime();
  if (presented.validSeconds === undefined) return Math.abs(now - signedAt) > allowedSkewMs ? "skewed" : undefined;
  if (signedAt - now > allowedSkewMs) return "not_yet_valid";
  return now >= signedAt + presented.validSeconds * 1000 ? "expired" : undefined;
}

/** Whether all x-amz-* headers are signed; an unsigned one could change the request after it was signed. */
function coversHeaders(request: SignedRequest, signedHeaders: readonly string[]): boolean {
  if (!signedHeaders.includes("host")) return false;
  return Object.keys(request.headers).every((name) => !name.startsWith("x-amz-") || signedHeaders.includes(name));
}

function problemOfScope(presented: PresentedSignature, options: VerifyOptions): RefusalReason | undefined {
  const isRegionRight = options.region === undefined || presented.region === options.region;
  const isServiceRight = options.style === "json" || presented.service === options.style;
  return isRegionRight && isServiceRight ? undefined : "wrong_scope";
}

function findSigner(request: SignedRequest, options: VerifyOptions): Signer | RefusalReason {
  const presented = readSignature(request);
  if (typeof presented === "string") return presented;
  const problem = problemOfScope(presented, options) ?? problemOfTime(presented, options.now().getTime());
  if (problem) return problem;
  const principal = options.credentials.find(presented.accessKeyId, presented.sessionToken);
  if (!principal) return presented.sessionToken === undefined ? "unknown_key" : "bad_token";
  if (principal.expiresAt && principal.expiresAt <= options.now()) return "expired_token";
  if (!coversHeaders(request, presented.signedHeaders)) return "unsigned_headers";
  if (presented.signedHeaders.some((name) => headerValue(request.headers, name) === undefined)) return "mismatch";
  return { presented, principal };
}

function compare(
  request: SignedRequest,
  { presented, principal }: Signer,
  payloadHash: string,
  style: RefusalStyle,
): VerifiedSignature | RefusalReason {
  const { scope, amzDate, signature, signedHeaders } = presented;
  const key = signingKey(principal.secretAccessKey, scope);
  const rule = style === "s3" ? "as-sent" : "encoded-twice";
  const canonical = canonicalRequest(request, signedHeaders, payloadHash, rule);
  const expected = sign(key, "AWS4-HMAC-SHA256", amzDate, scope, [sha256Hex(canonical)]);
  if (!sameSignature(expected, signature)) return "mismatch";
  return {
    ok: true,
    form: presented.form,
    accessKeyId: presented.accessKeyId,
    principalArn: principal.principalArn,
    signedHeaders: new Set(signedHeaders),
    allows: (action, resource) => principal.allows?.(action, resource) ?? true,
    chunks: { seedSignature: signature, sign: (algorithm, lines) => sign(key, algorithm, amzDate, scope, lines) },
  };
}

const refused = (request: SignedRequest, style: RefusalStyle, reason: RefusalReason): Verdict & { ok: false } => ({
  ok: false,
  ...refusalOf(style, reason, isPresigned(request)),
});

/**
 * Checks a request before its body is read: missing signature, unknown key, old date. A server calls it first, so that it
 * does not buffer the bodies of unauthenticated requests.
 */
export function refuseEarly(request: SignedRequest, options: VerifyOptions): (Verdict & { ok: false }) | undefined {
  const signer = findSigner(request, options);
  return typeof signer === "string" ? refused(request, options.style, signer) : undefined;
}

/**
 * Verifies an AWS Signature Version 4 in the header or in a presigned address; a refusal has the service's error code.
 * `payloadHash` is the body's hash, or the value that replaces it in the canonical request (such as UNSIGNED-PAYLOAD).
 */
export function verifySignature(request: SignedRequest, payloadHash: string, options: VerifyOptions): Verdict {
  const signer = findSigner(request, options);
  const result = typeof signer === "string" ? signer : compare(request, signer, payloadHash, options.style);
  return typeof result === "string" ? refused(request, options.style, result) : result;
}
