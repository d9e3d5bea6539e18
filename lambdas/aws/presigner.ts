import { formatUrl } from "@aws-sdk/core/util";
import { Sha256 } from "@smithy/core/checksum";
import { escapeUriPath } from "@smithy/core/protocols";
import { SignatureV4 } from "@smithy/signature-v4";
import type { SessionCredentials } from "./assume-role.ts";
import { bucketAddress } from "./bucket-address.ts";
import { ownRegion } from "./clients.ts";

/** The settings common to all URLs of one presigner. */
export interface Presigning {
  bucket: string;
  credentials: SessionCredentials;
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

/**
 * Makes presigned S3 addresses with the SDK's signer alone: the S3 client's own presigner would add ten times the code,
 * and a checksum of an empty body, which S3 then compares with the file that arrives.
 */
export function presigner({ bucket, credentials, validSeconds, now }: Presigning) {
  const region = ownRegion();
  const { url, folder } = bucketAddress(bucket, region);
  const signer = new SignatureV4({ service: "s3", region, credentials, sha256: Sha256, uriEscapePath: false });
  const options = { expiresIn: validSeconds, signingDate: now };

  return async ({ method, key, contentType, query = {} }: Presigned): Promise<string> => {
    const request = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: folder + escapeUriPath(key),
      query,
      headers: {
        host: url.host,
        "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
        ...(contentType !== undefined && { "content-type": contentType }),
      },
    };
    return formatUrl(await signer.presign(request, options));
  };
}
