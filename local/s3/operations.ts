import { copyObject } from "./copy-object.ts";
import { deleteObject, deleteObjects } from "./delete-objects.ts";
import { S3Error } from "./errors.ts";
import { listObjects, listVersions } from "./list-objects.ts";
import { putObject } from "./put-object.ts";
import { readObject } from "./read-object.ts";
import type { S3Reply } from "./reply.ts";
import type { BucketSettings, S3Request } from "./request.ts";
import type { ObjectStore } from "./store.ts";
import { refuseUnsupportedHeaders } from "./supported-headers.ts";

/** Parameters that make another operation of the request; taking it for the plain one would be wrong. */
const otherOperations = (
  "accelerate acl analytics attributes cors encryption intelligent-tiering inventory legal-hold lifecycle location logging " +
  "metadataConfiguration metadataTable metrics notification object-lock ownershipControls partNumber policy policyStatus " +
  "publicAccessBlock renameObject replication requestPayment restore retention select session tagging torrent uploadId " +
  "uploads versioning website"
).split(" ");

function bucketOperation(request: S3Request, store: ObjectStore): Promise<S3Reply> | undefined {
  const { method, query } = request;
  if (method === "HEAD") return Promise.resolve({ status: 200 });
  if (method === "GET" && query.has("versions")) return listVersions(request, store);
  if (method === "GET" && query.get("list-type") === "2") return listObjects(request, store);
  if (method === "POST" && query.has("delete")) return deleteObjects(request, store);
  return undefined;
}

/** Runs the operation that the request names; one that is not served here is refused, never taken for another. */
export async function runOperation(
  request: S3Request,
  store: ObjectStore,
  buckets: ReadonlyMap<string, BucketSettings>,
): Promise<S3Reply> {
  refuseUnsupportedHeaders(request);
  if (request.query.get("fetch-owner") === "true") {
    throw new S3Error("NotImplemented", { fields: [["Parameter", "fetch-owner"]] });
  }
  const other = otherOperations.find((name) => request.query.has(name));
  if (other !== undefined) throw new S3Error("NotImplemented", { fields: [["Parameter", other]] });
  if (request.key === "") {
    const reply = bucketOperation(request, store);
    if (!reply) throw new S3Error("NotImplemented");
    return reply;
  }
  switch (request.method) {
    case "GET":
    case "HEAD":
      return readObject(request, store);
    case "PUT":
      if (request.amz("x-amz-copy-source") === undefined) return putObject(request, store);
      return copyObject(request, store, (bucket) => buckets.has(bucket));
    case "DELETE":
      return deleteObject(request, store);
  }
  throw new S3Error("MethodNotAllowed", { fields: [["Method", request.method]] });
}
