import { createHash, createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The parts of a request that a signature covers; `path` is as sent, not decoded. */
export interface SignedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

/** S3 signs the path as sent; all other services normalize it and encode it a second time. */
export type PathRule = "as-sent" | "encoded-twice";

/** Encodes a text as in RFC 3986: everything except letters, digits, `-`, `.`, `_` and `~`. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A header's value in the signed format, with repeated headers joined; undefined if it was not sent. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(",") : value)?.trim().replace(/\s+/g, " ");
}

function canonicalPath(path: string, rule: PathRule): string {
  if (rule === "as-sent") return path;
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") segments.pop();
    else segments.push(uriEncode(segment));
  }
  const tail = segments.length > 0 && path.endsWith("/") ? "/" : "";
  return `/${segments.join("/")}${tail}`;
}

const byCodePoint = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => name !== "X-Amz-Signature")
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort((a, b) => byCodePoint(a[0], b[0]) || byCodePoint(a[1], b[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** The canonical request of Signature Version 4; a signed header that was not sent counts as empty. */
export function canonicalRequest(
  request: SignedRequest,
  signedHeaders: readonly string[],
  payloadHash: string,
  rule: PathRule,
): string {
  const headers = signedHeaders.map((name) => `${name}:${headerValue(request.headers, name) ?? ""}\n`).join("");
  const path = canonicalPath(request.path, rule);
  const query = canonicalQuery(request.query);
  return [request.method, path, query, headers, signedHeaders.join(";"), payloadHash].join("\n");
}

export const sha256Hex = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

const hmac = (key: KeyObject, text: string) => createHmac("sha256", key).update(text).digest();

/** A cache of signing keys: a client uses the same signing key for all requests of a day. */
const derived = new Map<string, KeyObject>();
const derivedMax = 100;

/** The signing key for one day, region and service; `scope` is `date/region/service/aws4_request`. */
export function signingKey(secretAccessKey: string, scope: string): KeyObject {
  const name = `${secretAccessKey} ${scope}`;
  const known = derived.get(name);
  if (known) return known;
  const first = createSecretKey(`AWS4${secretAccessKey}`, "utf8");
  const key = scope.split("/").reduce((last, part) => createSecretKey(hmac(last, part)), first);
  if (derived.size === derivedMax) derived.clear();
  derived.set(name, key);
  return key;
}

/** The hex signature of a string to sign that consists of algorithm, date, scope and `lines`. */
export function sign(
  key: KeyObject,
  algorithm: string,
  amzDate: string,
  scope: string,
  lines: readonly string[],
): string {
  return hmac(key, [algorithm, amzDate, scope, ...lines].join("\n")).toString("hex");
}
