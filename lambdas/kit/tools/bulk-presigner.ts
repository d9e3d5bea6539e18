import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Presigning } from "./signer.ts";

type Shared = Pick<Presigning, "bucket" | "credentials" | "validSeconds" | "now">;

const hmac = (key: string | Buffer | KeyObject, text: string) => createHmac("sha256", key).update(text).digest();

/** RFC 3986, as Signature Version 4 asks: all but letters, digits, `-`, `.`, `_` and `~` is escaped. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function bucketUrl(bucket: string, region: string): { host: string; root: string; path: string } {
  const local = process.env.AWS_ENDPOINT_URL_S3;
  const { host, origin } = new URL(local ?? `https://${bucket}.s3.${region}.amazonaws.com`);
  return { host, root: origin, path: local ? `/${bucket}/` : "/" };
}

/**
 * `presign` for many objects of one bucket at one moment: what their signatures share is computed once, which makes a
 * hundred addresses some ten times cheaper. Gives the very same addresses.
 */
export function bulkPresigner({ bucket, credentials, validSeconds, now }: Shared) {
  const region = process.env.AWS_REGION ?? "us-east-1";
  const { host, root, path } = bucketUrl(bucket, region);
  const signedAt = now.toISOString().replace(/[-:]|\.\d{3}/g, "");
  const scope = [signedAt.slice(0, 8), region, "s3", "aws4_request"];
  // A key object is prepared once; the bytes would be for each signature, which costs more than the signature.
  const signingKey = createSecretKey(scope.reduce(hmac, Buffer.from(`AWS4${credentials.secretAccessKey}`)));
  const shared = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
    "X-Amz-Credential": [credentials.accessKeyId, ...scope].join("/"),
    "X-Amz-Date": signedAt,
    "X-Amz-Expires": String(validSeconds),
    ...(credentials.sessionToken && { "X-Amz-Security-Token": credentials.sessionToken }),
  };
  const sharedQuery = Object.entries(shared).map(([name, value]) => `${name}=${encode(value)}`);

  return ({
    method,
    key,
    contentType,
    query,
  }: Pick<Presigning, "method" | "key" | "contentType" | "query">): string => {
    const type = contentType?.trim().replace(/\s+/g, " ");
    const headers = type === undefined ? [`host:${host}`] : [`content-type:${type}`, `host:${host}`];
    const signedHeaders = type === undefined ? "host" : "content-type;host";
    const objectPath = path + key.split("/").map(encode).join("/");
    const canonicalQuery = [
      ...sharedQuery,
      `X-Amz-SignedHeaders=${encode(signedHeaders)}`,
      ...Object.entries(query ?? {}).map(([name, value]) => `${encode(name)}=${encode(value)}`),
    ]
      .sort()
      .join("&");
    const request = [method, objectPath, canonicalQuery, ...headers, "", signedHeaders, "UNSIGNED-PAYLOAD"].join("\n");
    const text = ["AWS4-HMAC-SHA256", signedAt, scope.join("/"), hash("sha256", request)].join("\n");
    const signature = hmac(signingKey, text).toString("hex");
    return `${root}${objectPath}?${canonicalQuery}&X-Amz-Signature=${signature}`;
  };
}
