import type { IncomingMessage } from "node:http";
import { S3Error } from "./errors.ts";
import type { S3Reply } from "./reply.ts";
import type { BucketSettings } from "./request.ts";

const methods = ["GET", "PUT", "HEAD"];
const vary = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

/** The headers that let a web page of another origin read the answer, also an error; empty if the bucket has no CORS rule. */
export function corsHeaders(http: IncomingMessage, bucket: BucketSettings | undefined): Record<string, string> {
  if (!bucket?.cors || http.headers.origin === undefined || !methods.includes(http.method ?? "")) return {};
  return {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": methods.join(", "),
    "access-control-expose-headers": "ETag",
    vary,
  };
}

/** The answer to a CORS preflight request, which is not signed. */
export function preflight(http: IncomingMessage, bucket: BucketSettings | undefined): S3Reply {
  const method = http.headers["access-control-request-method"];
  const isAllowed = bucket?.cors && http.headers.origin !== undefined && methods.includes(method ?? "");
  if (!isAllowed) throw new S3Error("AccessForbidden");
  const wanted = http.headers["access-control-request-headers"];
  return {
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods.join(", "),
      ...(wanted === undefined ? {} : { "access-control-allow-headers": wanted }),
      "access-control-expose-headers": "ETag",
      "access-control-max-age": "3000",
      vary,
    },
  };
}
