import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Agent } from "node:http";
import { post } from "./post.ts";

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** The function's own credentials, as Lambda gives them to every process. */
export function ownCredentials(): Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("The function has no AWS credentials");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

export const ownRegion = () => process.env.AWS_REGION ?? "us-east-1";

const hmac = (key: string | Buffer | KeyObject, text: string) => createHmac("sha256", key).update(text).digest();

/** A moment as Signature Version 4 writes it, such as `20261121T093000Z`. */
export const signingTime = (moment: Date) => moment.toISOString().replace(/[-:]|\.\d{3}/g, "");

/** What a signature is good for: one day, region and service. */
export const scopeOf = (signedAt: string, service: string) =>
  [signedAt.slice(0, 8), ownRegion(), service, "aws4_request"].join("/");

/** The key that signs within a scope. A key object is prepared once; bytes would be for each signature, which costs more than the signature. */
export const signingKey = (secretAccessKey: string, scope: string): KeyObject =>
  createSecretKey(scope.split("/").reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`) as Buffer);

/** The signature, in hexadecimal digits, of a canonical request. */
export function signatureOf(key: KeyObject, signedAt: string, scope: string, canonicalRequest: string): string {
  return hmac(key, ["AWS4-HMAC-SHA256", signedAt, scope, hash("sha256", canonicalRequest)].join("\n")).toString("hex");
}

const lastKeys = new Map<string, { of: string; key: KeyObject }>();

/** `signingKey`, remembered for each service until the day or the credentials change. */
function rememberedKey(service: string, secretAccessKey: string, scope: string): KeyObject {
  const of = `${scope} ${secretAccessKey}`;
  const last = lastKeys.get(service);
  if (last?.of === of) return last.key;
  const key = signingKey(secretAccessKey, scope);
  lastKeys.set(service, { of, key });
  return key;
}

/** The headers, names in lower case, of a POST to the root of a service, with its signature (Signature Version 4). */
export function signedHeaders(
  service: string,
  url: URL,
  given: Record<string, string>,
  body: string,
  credentials: Credentials = ownCredentials(),
  now: Date = new Date(),
): Record<string, string> {
  const signedAt = signingTime(now);
  const scope = scopeOf(signedAt, service);
  const headers: Record<string, string> = {
    ...given,
    host: url.host,
    "x-amz-date": signedAt,
    ...(credentials.sessionToken && { "x-amz-security-token": credentials.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}`);
  const signed = names.join(";");
  const canonicalRequest = ["POST", "/", "", ...lines, "", signed, hash("sha256", body)].join("\n");
  const key = rememberedKey(service, credentials.secretAccessKey, scope);
  const signature = signatureOf(key, signedAt, scope, canonicalRequest);
  const credential = `${credentials.accessKeyId}/${scope}`;
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}`;
  return headers;
}

/** One POST signed for a service of the query or JSON protocols, with the function's own credentials unless others are given. */
export async function signedPost(
  service: string,
  url: URL,
  headers: Record<string, string>,
  body: string,
  { credentials, agent }: { credentials?: Credentials | undefined; agent?: Agent } = {},
): Promise<{ status: number; body: string }> {
  return post(url, signedHeaders(service, url, headers, body, credentials), body, agent);
}
