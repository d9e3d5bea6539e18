import { type Credentials, ownRegion, scopeOf, signatureOf, signingKey, signingTime } from "./signature.ts";

/** What all addresses of one presigner share. */
export interface Presigning {
  bucket: string;
  credentials: Credentials;
  validSeconds: number;
  now: Date;
}

export interface Presigned {
  method: "GET" | "PUT";
  key: string;
  /** The Content-Type an upload must carry; signed into the address. */
  contentType?: string;
  /** Query parameters that change S3's answer, such as response-content-disposition. */
  query?: Record<string, string>;
}

/** RFC 3986, as Signature Version 4 asks: all but letters, digits, `-`, `.`, `_` and `~` is escaped. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

function bucketUrl(bucket: string, region: string): { host: string; root: string; path: string } {
  const local = process.env.AWS_ENDPOINT_URL_S3;
  const { host, origin } = new URL(local ?? `https://${bucket}.s3.${region}.amazonaws.com`);
  return { host, root: origin, path: local ? `/${bucket}/` : "/" };
}

/**
 * Makes presigned S3 addresses without any checksum parameter: the client sends the plain bytes (DESIGN: traps). What the
 * signatures of many objects share is computed once, which makes a hundred addresses some ten times cheaper.
 */
export function presigner({ bucket, credentials, validSeconds, now }: Presigning) {
  const { host, root, path } = bucketUrl(bucket, ownRegion());
  const signedAt = signingTime(now);
  const scope = scopeOf(signedAt, "s3");
  const signing = signingKey(credentials.secretAccessKey, scope);
  const shared = {
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
    "X-Amz-Credential": `${credentials.accessKeyId}/${scope}`,
    "X-Amz-Date": signedAt,
    "X-Amz-Expires": String(validSeconds),
    ...(credentials.sessionToken && { "X-Amz-Security-Token": credentials.sessionToken }),
  };
  const sharedQuery = Object.entries(shared).map(([name, value]) => `${name}=${encode(value)}`);

  return ({ method, key, contentType, query }: Presigned): string => {
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
    const signature = signatureOf(signing, signedAt, scope, request);
    return `${root}${objectPath}?${canonicalQuery}&X-Amz-Signature=${signature}`;
  };
}
