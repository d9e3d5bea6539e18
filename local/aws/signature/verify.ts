import { timingSafeEqual } from "node:crypto";
import { canonicalRequest, headerValue, type SignedRequest, sha256Hex, sign, signingKey } from "./canonical.ts";
import { isPresigned, type PresentedSignature, readSignature } from "./presented-signature.ts";
import { type Refusal, type RefusalReason, type RefusalStyle, refusalOf } from "./refusals.ts";

/** Who an access key stands for, and the secret that its signatures are made with. */
export interface Principal {
  secretAccessKey: string;
  sessionToken?: string;
  principalArn: string;
  /** Absent for the root key, which does not expire. */
  expiresAt?: Date;
  /** What the session policy allows; absent for a session without one. */
  allows?(action: string, resource: string): boolean;
}

/** Where a verifier looks keys up; undefined for an unknown key, and for a token that does not belong to it. */
export interface Keys {
  find(accessKeyId: string, sessionToken?: string): Principal | undefined;
}

export interface VerifyOptions {
  /** Also the service named in the credential's scope, but for `json`, where a key is good for every service behind one port. */
  style: RefusalStyle;
  /** When given, a signature for another region is refused. */
  region?: string;
  credentials: Keys;
  now: () => Date;
}

/** Signs what follows the headers of a request: the chunks of a streamed upload. */
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
  /** Whether the caller's session policy allows an action; always, without one. */
  allows(action: string, resource: string): boolean;
  chunks: ChunkSigner;
}

export type Verdict = VerifiedSignature | ({ ok: false } & Refusal);

/** A signer whose key, time and headers are acceptable; the signature itself is not compared yet. */
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

/** An unsigned x-amz-* header could change the request's meaning after it was signed. */
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
 * Finds what is wrong with a request before its body has been read: no signature, an unknown key, an old date. A server
 * that asks first never holds the body of a stranger.
 */
export function refuseEarly(request: SignedRequest, options: VerifyOptions): (Verdict & { ok: false }) | undefined {
  const signer = findSigner(request, options);
  return typeof signer === "string" ? refused(request, options.style, signer) : undefined;
}

/**
 * Checks an AWS Signature Version 4, in the header or in a presigned address; a refusal carries the service's own error
 * code. `payloadHash` is the hash (or the word in its place) that the caller computed or found for the body.
 */
export function verifySignature(request: SignedRequest, payloadHash: string, options: VerifyOptions): Verdict {
  const signer = findSigner(request, options);
  const result = typeof signer === "string" ? signer : compare(request, signer, payloadHash, options.style);
  return typeof result === "string" ? refused(request, options.style, result) : result;
}
