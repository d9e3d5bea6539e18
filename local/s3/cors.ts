import type { IncomingMessage } from "node:http";
import { S3Error } from "./errors.ts";
import type { S3Reply } from "./reply.ts";
import type { BucketSettings } from "./request.ts";

const vary = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

/** The bucket's rule, if it allows a request of another origin with this method. */
function ruleFor(http: IncomingMessage, bucket: BucketSettings | undefined, method: unknown) {
  if (http.headers.origin === undefined) return undefined;
  return bucket?.cors?.methods.some((allowed) => allowed === method) ? bucket.cors : undefined;
}

/** The headers that let a web page of another origin read the answer, also an error; empty if no CORS rule matches. */
export function corsHeaders(http: IncomingMessage, bucket: BucketSettings | undefined): Record<string, string> {
  const rule = ruleFor(http, bucket, http.method);
  if (!rule) return {};
  return {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": rule.methods.join(", "),
    "access-control-expose-headers": rule.exposedHeaders.join(", "),
    vary,
  };
}

/** The answer to a CORS preflight request, which is not signed. As on AWS, one header that is not allowed refuses it. */
export function preflight(http: IncomingMessage, bucket: BucketSettings | undefined): S3Reply {
  const rule = ruleFor(http, bucket, http.headers["access-control-request-method"]);
  const wanted = (http.headers["access-control-request-headers"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  if (!rule || wanted.some((name) => !rule.headers.includes(name))) throw new S3Error("AccessForbidden");
  return {
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": rule.methods.join(", "),
      ...(wanted.length === 0 ? {} : { "access-control-allow-headers": wanted.join(", ") }),
      "access-control-expose-headers": rule.exposedHeaders.join(", "),
      "access-control-max-age": String(rule.maxAgeSeconds),
      vary,
    },
  };
}
