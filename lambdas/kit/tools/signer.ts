import { createHash, createHmac, type Hash, type Hmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";
import { post } from "./post.ts";

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Node's own SHA-256 in the form that the signer takes, instead of a JavaScript implementation in every bundle. */
class Sha256 {
  readonly #hash: Hash | Hmac;
  constructor(secret?: Bytes) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }
  update(data: Bytes): void {
    this.#hash.update(bytesOf(data));
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

function bytesOf(data: Bytes): Uint8Array {
  if (typeof data === "string") return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

function ownCredentials(): Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) throw new Error("The function has no AWS credentials");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

const region = () => process.env.AWS_REGION ?? "us-east-1";

function signer(service: string, credentials: Credentials): SignatureV4 {
  return new SignatureV4({
    service,
    region: region(),
    credentials,
    sha256: Sha256,
    uriEscapePath: service !== "s3",
    applyChecksum: service !== "s3",
  });
}

function element(xml: string, name: string): string {
  const value = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  if (value === undefined) throw new Error(`STS answered without ${name}`);
  return value;
}

/** One POST signed for a service of the query or JSON protocols, with the function's own credentials unless others are given. */
export async function signedPost(
  service: string,
  url: URL,
  headers: Record<string, string>,
  body: string,
  credentials: Credentials = ownCredentials(),
): Promise<{ status: number; body: string }> {
  const signed = await signer(service, credentials).sign({
    method: "POST",
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port && { port: Number(url.port) }),
    path: "/",
    query: {},
    headers: { host: url.host, ...headers },
    body,
  });
  return post(url, signed.headers, body);
}

/**
 * Credentials of a role for one hour. An address dies with the session that signed it, and a Lambda's own session may
 * have minutes left; so each signing assumes its role anew. A session policy leaves of the role only what both allow;
 * an hour is also the most that a role may have of another role.
 */
export async function assumeRole(roleArn: string, sessionPolicy?: object): Promise<Credentials> {
  const url = new URL(process.env.AWS_ENDPOINT_URL_STS ?? `https://sts.${region()}.amazonaws.com`);
  const body = new URLSearchParams({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleArn: roleArn,
    RoleSessionName: "slipway-signer",
    DurationSeconds: "3600",
    ...(sessionPolicy && { Policy: JSON.stringify(sessionPolicy) }),
  }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const answer = await signedPost("sts", url, headers, body);
  if (answer.status !== 200) {
    throw Object.assign(new Error(`STS refused the signer role with status ${answer.status}`), {
      $fault: answer.status >= 500 ? "server" : "client",
    });
  }
  return {
    accessKeyId: element(answer.body, "AccessKeyId"),
    secretAccessKey: element(answer.body, "SecretAccessKey"),
    sessionToken: element(answer.body, "SessionToken"),
  };
}

function objectUrl(bucket: string, key: string): URL {
  const local = process.env.AWS_ENDPOINT_URL_S3;
  const path = key.split("/").map(encodeURIComponent).join("/");
  return new URL(local ? `${local}/${bucket}/${path}` : `https://${bucket}.s3.${region()}.amazonaws.com/${path}`);
}

export interface Presigning {
  method: "GET" | "PUT";
  bucket: string;
  key: string;
  /** The Content-Type an upload must carry; signed into the address. */
  contentType?: string;
  validSeconds: number;
  credentials: Credentials;
  now: Date;
  /** Query parameters that change S3's answer, such as response-content-disposition. */
  query?: Record<string, string>;
}

/** A presigned S3 address without any checksum parameter: the client sends the plain bytes (DESIGN: traps). */
export async function presign(asked: Presigning): Promise<string> {
  const url = objectUrl(asked.bucket, asked.key);
  const signed = await signer("s3", asked.credentials).presign(
    {
      method: asked.method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: url.pathname,
      query: { ...asked.query },
      headers: {
        host: url.host,
        "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
        ...(asked.contentType && { "content-type": asked.contentType }),
      },
    },
    {
      expiresIn: asked.validSeconds,
      signingDate: asked.now,
      signableHeaders: new Set(asked.contentType ? ["host", "content-type"] : ["host"]),
    },
  );
  const query = Object.entries(signed.query ?? {})
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  return `${url.origin}${url.pathname}?${query}`;
}
