import { localAccount } from "../sts/store.ts";
import { S3Error } from "./errors.ts";
import type { S3Request } from "./request.ts";

/** Headers of the signature and the payload, which every request may carry. */
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

/** Further headers per method. Any other x-amz- header would change what is stored or sent. */
const understood: Record<string, readonly string[]> = {
  GET: ["x-amz-checksum-mode"],
  HEAD: ["x-amz-checksum-mode"],
  PUT: [...payload, "x-amz-copy-source", "x-amz-metadata-directive", "x-amz-tagging-directive"],
  POST: payload,
  DELETE: [],
};
/** Conditions per method. S3 knows others; ignoring one would be worse than refusing it. */
const conditions: Record<string, readonly string[]> = {
  GET: ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"],
  HEAD: ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"],
  DELETE: ["if-match"],
};

const aclMessage = "The bucket does not allow ACLs";

/** The headers that have one value that changes nothing here; the error answers every other value. */
function isWithoutEffect(name: string, value: string): boolean {
  if (name === "x-amz-storage-class") return value === "STANDARD";
  if (name === "x-amz-expected-bucket-owner" || name === "x-amz-source-expected-bucket-owner") {
    if (value !== localAccount) throw new S3Error("AccessDenied");
    return true;
  }
  if (name === "x-amz-acl" || name.startsWith("x-amz-grant-")) {
    // As in a bucket that enforces its owner, which is what S3 makes of every new one.
    if (name !== "x-amz-acl" || value !== "bucket-owner-full-control") {
      throw new S3Error("AccessControlListNotSupported", { message: aclMessage });
    }
    return true;
  }
  return false;
}

/** Throws NotImplemented for a header, sent or in a presigned address, that this S3 would have to ignore. */
export function refuseUnsupportedHeaders(request: S3Request): void {
  const { method, http, query } = request;
  const hoisted = [...query.keys()].map((name) => name.toLowerCase());
  const mine = new Set([...common, ...(understood[method] ?? [])]);
  for (const name of new Set([...Object.keys(http.headers), ...hoisted])) {
    if (name.startsWith("if-") && conditions[method]?.includes(name) !== true) throw refused(name);
    if (!name.startsWith("x-amz-") || mine.has(name)) continue;
    if (name.startsWith("x-amz-meta-") && method === "PUT") continue;
    if (!isWithoutEffect(name, request.amz(name) ?? "")) throw refused(name);
  }
  const directive = request.amz("x-amz-metadata-directive") ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE") throw new S3Error("InvalidArgument");
  if ((request.amz("x-amz-tagging-directive") ?? "COPY") !== "COPY") throw refused("x-amz-tagging-directive");
}

const refused = (header: string) => new S3Error("NotImplemented", { fields: [["Header", header]] });
