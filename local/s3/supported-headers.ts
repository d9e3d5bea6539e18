import { localAccount } from "../sts/store.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** Headers of signature and payload, which every request may have. */
const common = [
  "x-amz-algorithm",
  "x-amz-content-sha256",
  "x-amz-credential",
  "x-amz-date",
  "x-amz-expires",
  "x-amz-security-token",
  "x-amz-signature",
  "x-amz-signedheaders",
  "x-amz-user-agent",
];
const checksums = [
  "x-amz-checksum-crc32",
  "x-amz-checksum-crc32c",
  "x-amz-checksum-crc64nvme",
  "x-amz-checksum-sha1",
  "x-amz-checksum-sha256",
];
const payload = ["x-amz-decoded-content-length", "x-amz-sdk-checksum-algorithm", "x-amz-trailer", ...checksums];

/** Further supported headers per method. Other x-amz-* headers would change what is stored or sent, so they are refused. */
const supported: Record<string, readonly string[]> = {
  GET: ["x-amz-checksum-mode"],
  HEAD: ["x-amz-checksum-mode"],
  PUT: [...payload, "x-amz-copy-source", "x-amz-metadata-directive", "x-amz-tagging-directive"],
  POST: payload,
  DELETE: [],
};
/** Supported conditions per method. Others are refused, because ignoring a condition would be worse. */
const conditions: Record<string, readonly string[]> = {
  GET: ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"],
  HEAD: ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"],
  DELETE: ["if-match"],
};

const aclMessage = "The bucket does not allow ACLs";

/** Whether a header has the one value that has no effect; throws for other values of these headers. */
function isWithoutEffect(name: string, value: string): boolean {
  if (name === "x-amz-storage-class") return value === "STANDARD";
  if (name === "x-amz-expected-bucket-owner" || name === "x-amz-source-expected-bucket-owner") {
    if (value !== localAccount) throw new S3Error("AccessDenied");
    return true;
  }
  if (name === "x-amz-acl" || name.startsWith("x-amz-grant-")) {
    // As in a bucket with the object-ownership setting "bucket owner enforced", the default of new buckets.
    if (name !== "x-amz-acl" || value !== "bucket-owner-full-control") {
      throw new S3Error("AccessControlListNotSupported", { message: aclMessage });
    }
    return true;
  }
  return false;
}

/** Throws NotImplemented for an unsupported header, in the request or in the query of a presigned address. */
export function refuseUnsupportedHeaders(request: S3Request): void {
  const { method, http, query } = request;
  const hoisted = [...query.keys()].map((name) => name.toLowerCase());
  const allowed = new Set([...common, ...(supported[method] ?? [])]);
  for (const name of new Set([...Object.keys(http.headers), ...hoisted])) {
    if (name.startsWith("if-") && conditions[method]?.includes(name) !== true) throw refused(name);
    if (!name.startsWith("x-amz-") || allowed.has(name)) continue;
    if (name.startsWith("x-amz-meta-") && method === "PUT") continue;
    if (!isWithoutEffect(name, request.amz(name) ?? "")) throw refused(name);
  }
  const directive = request.amz("x-amz-metadata-directive") ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE") throw new S3Error("InvalidArgument");
  if ((request.amz("x-amz-tagging-directive") ?? "COPY") !== "COPY") throw refused("x-amz-tagging-directive");
}

const refused = (header: string) => new S3Error("NotImplemented", { fields: [["Header", header]] });
