import { type CallFault, type Faults, runWithFault } from "../../aws/call-faults.ts";
import { S3Error } from "../errors.ts";
import type { S3Reply } from "../reply.ts";
import type { BucketSettings, S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";
import { refuseUnsupportedHeaders } from "../supported-headers.ts";
import { copyObject } from "./copy-object.ts";
import { deleteObject, deleteObjects } from "./delete-objects.ts";
import { listObjects, listVersions } from "./list-objects.ts";
import { putObject } from "./put-object.ts";
import { readObject } from "./read-object.ts";

/** Query parameters of operations that are not supported; the request must not be handled as a plain GET or PUT. */
const otherOperations = (
  "accelerate acl analytics attributes cors encryption intelligent-tiering inventory legal-hold lifecycle location logging " +
  "metadataConfiguration metadataTable metrics notification object-lock ownershipControls partNumber policy policyStatus " +
  "publicAccessBlock renameObject replication requestPayment restore retention select session tagging torrent uploadId " +
  "uploads versioning website"
).split(" ");

type Call = (
  request: S3Request,
  store: ObjectStore,
  buckets: ReadonlyMap<string, BucketSettings>,
) => Promise<S3Reply> | S3Reply;

/** The supported calls. */
export const s3Calls = {
  CopyObject: (request, store, buckets) => copyObject(request, store, (bucket) => buckets.has(bucket)),
  DeleteObject: deleteObject,
  DeleteObjects: deleteObjects,
  GetObject: readObject,
  HeadBucket: () => ({ status: 200 }),
  HeadObject: readObject,
  ListObjectVersions: listVersions,
  ListObjectsV2: listObjects,
  PutObject: putObject,
} satisfies Record<string, Call>;
type CallName = keyof typeof s3Calls;

function bucketCall({ method, query }: S3Request): CallName {
  if (method === "HEAD") return "HeadBucket";
  if (method === "GET" && query.has("versions")) return "ListObjectVersions";
  if (method === "GET" && query.get("list-type") === "2") return "ListObjectsV2";
  if (method === "POST" && query.has("delete")) return "DeleteObjects";
  throw new S3Error("NotImplemented");
}

function objectCall(request: S3Request): CallName {
  switch (request.method) {
    case "GET":
      return "GetObject";
    case "HEAD":
      return "HeadObject";
    case "PUT":
      return request.amz("x-amz-copy-source") === undefined ? "PutObject" : "CopyObject";
    case "DELETE":
      return "DeleteObject";
  }
  throw new S3Error("MethodNotAllowed", { fields: [["Method", request.method]] });
}

/** The error of S3 for a fault. */
function faultError(fault: CallFault): S3Error {
  if (fault.kind === "refused") return new S3Error({ code: fault.code, status: 400, message: "The call was refused." });
  return new S3Error(fault.kind === "failed" ? "InternalError" : "SlowDown");
}

/** Runs the operation of a request; unsupported operations are refused. */
export async function runOperation(
  request: S3Request,
  store: ObjectStore,
  buckets: ReadonlyMap<string, BucketSettings>,
  faults?: Faults,
): Promise<S3Reply> {
  refuseUnsupportedHeaders(request);
  if (request.query.get("fetch-owner") === "true") {
    throw new S3Error("NotImplemented", { fields: [["Parameter", "fetch-owner"]] });
  }
  const other = otherOperations.find((name) => request.query.has(name));
  if (other !== undefined) throw new S3Error("NotImplemented", { fields: [["Parameter", other]] });
  const name = request.key === "" ? bucketCall(request) : objectCall(request);
  const call: Call = s3Calls[name];
  const fault = faults?.({ service: "S3", operation: name, input: request.path });
  return runWithFault(fault, async () => call(request, store, buckets), faultError);
}
