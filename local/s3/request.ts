import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BrowserTransfers } from "../../api/browser-transfers.ts";
import { headerValue } from "../aws/signature/canonical.ts";
import { isPresigned } from "../aws/signature/presented-signature.ts";
import { type Keys, type VerifiedSignature, verifySignature } from "../aws/signature/verify.ts";
import { mayRequest } from "./access.ts";
import { S3Error } from "./errors.ts";

export interface BucketSettings {
  name: string;
  versioned: boolean;
  /** The rule for requests of web pages; without one they are refused. */
  cors?: BrowserTransfers;
}

export interface Target {
  /** The path as sent, still encoded, because the signature covers it. */
  path: string;
  bucket: string;
  /** Empty for a request about the bucket. */
  key: string;
  query: URLSearchParams;
}

/** A request whose signature has been verified. */
export interface S3Request extends Target {
  method: string;
  http: IncomingMessage;
  requestId: string;
  settings: BucketSettings;
  signature: VerifiedSignature;
  payloadHash: string;
  /** The value of an x-amz-* header; a presigned address has it in the query. */
  amz(name: string): string | undefined;
  /** The body. The first read sends "100 Continue" to a client that waits for it. */
  body(): AsyncIterable<Buffer>;
}

const keyBytesMax = 1024;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error("InvalidURI");
  }
}

/** Parses a path-style URL, `/bucket/key`. The path is not normalized: `..` and `//` are parts of the key. */
export function parseTarget(url: string): Target {
  const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
  const parts = /^\/([^/]*)(?:\/(.*))?$/s.exec(path);
  if (!parts) throw new S3Error("InvalidURI");
  const key = decode(parts[2] ?? "");
  if (Buffer.byteLength(key) > keyBytesMax) throw new S3Error("KeyTooLongError");
  return { path, bucket: decode(parts[1] ?? ""), key, query: new URLSearchParams(query) };
}

function amzReader(http: IncomingMessage, query: URLSearchParams) {
  const hoisted = new Map<string, string>();
  if (isPresigned({ query })) for (const [name, value] of query) hoisted.set(name.toLowerCase(), value);
  return (name: string) =>
    headerValue(http.headers, name) ?? (name.startsWith("x-amz-") ? hoisted.get(name) : undefined);
}

/** Converts headers to UTF-8. Node.js reads headers as Latin-1, as fetch writes them; most other clients write UTF-8. */
function readAsUtf8(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const decode = (value: string) => Buffer.from(value, "latin1").toString("utf8");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? decode(value) : value]),
  );
}

export interface RequestOptions {
  buckets: ReadonlyMap<string, BucketSettings>;
  credentials: Keys;
  region: string;
  now: () => Date;
  mayUse: (principalArn: string) => boolean;
}

/** Verifies the signature first, so that unauthenticated callers cannot find out whether a bucket exists. */
export function authenticate(
  http: IncomingMessage,
  target: Target,
  context: Pick<S3Request, "requestId" | "body">,
  options: RequestOptions,
): S3Request {
  const { region, credentials, now } = options;
  const method = http.method ?? "GET";
  const amz = amzReader(http, target.query);
  const payloadHash = amz("x-amz-content-sha256") ?? (isPresigned(target) ? "UNSIGNED-PAYLOAD" : "");
  const verify = (headers: IncomingHttpHeaders) =>
    verifySignature({ method, path: target.path, query: target.query, headers }, payloadHash, {
      style: "s3",
      region,
      credentials,
      now,
    });
  let verdict = verify(http.headers);
  if (!verdict.ok && /[\u0080-\u00ff]/.test(http.headers["content-type"] ?? "")) {
    verdict = verify(readAsUtf8(http.headers));
  }
  if (!verdict.ok) throw new S3Error(verdict);
  if (payloadHash === "") {
    throw new S3Error("InvalidRequest", { message: "Missing required header for this request: x-amz-content-sha256" });
  }
  if (!options.mayUse(verdict.principalArn) || !mayRequest(verdict, method, target)) throw new S3Error("AccessDenied");
  const settings = options.buckets.get(target.bucket);
  if (!settings) throw new S3Error("NoSuchBucket", { fields: [["BucketName", target.bucket]] });
  return { ...target, ...context, method, http, settings, signature: verdict, payloadHash, amz };
}
