import { objectArn } from "../access.ts";
import { s3Document } from "../document.ts";
import { S3Error } from "../errors.ts";
import type { S3Reply } from "../reply.ts";
import { parseTarget, type S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";
import type { StoredObject } from "../store/version-index.ts";
import { storedHeaders } from "./put-object.ts";
import { findObject } from "./read-object.ts";

interface CopySource {
  bucket: string;
  key: string;
  versionId: string | null;
}

/** `bucket/key` or `/bucket/key`, URL-encoded, with an optional `?versionId=`. */
function parseCopySource(header: string): CopySource {
  const at = header.lastIndexOf("?versionId=");
  const path = at < 0 ? header : header.slice(0, at);
  // Everything before `?versionId=` belongs to the key, also question marks.
  const target = parseTarget(`${path.startsWith("/") ? "" : "/"}${path.replaceAll("?", "%3F")}`);
  if (target.bucket === "" || target.key === "") throw new S3Error("InvalidArgument");
  return { bucket: target.bucket, key: target.key, versionId: at < 0 ? null : header.slice(at + "?versionId=".length) };
}

function findSource(store: ObjectStore, source: CopySource, isKnown: (bucket: string) => boolean) {
  if (!isKnown(source.bucket)) throw new S3Error("NoSuchBucket", { fields: [["BucketName", source.bucket]] });
  try {
    return findObject(store, source.bucket, source.key, source.versionId);
  } catch (error) {
    if (!(error instanceof S3Error) || error.code !== "MethodNotAllowed") throw error;
    const message = "The source of a copy request may not specifically refer to a delete marker by version id.";
    throw new S3Error("InvalidRequest", { message });
  }
}

function newDetails(request: S3Request, object: StoredObject, isReplacing: boolean): StoredObject["headers"] {
  return isReplacing ? storedHeaders(request) : object.headers;
}

/** CopyObject: links to the same bytes; the headers come from the source unless the request replaces them. */
export async function copyObject(
  request: S3Request,
  store: ObjectStore,
  isKnown: (bucket: string) => boolean,
): Promise<S3Reply> {
  const source = parseCopySource(request.amz("x-amz-copy-source") ?? "");
  const isReplacing = request.amz("x-amz-metadata-directive") === "REPLACE";
  const isOntoItself = source.bucket === request.bucket && source.key === request.key && source.versionId === null;
  if (isOntoItself && !isReplacing) {
    const message =
      "This copy request is illegal because it is trying to copy an object to itself without changing it.";
    throw new S3Error("InvalidRequest", { message });
  }
  const readAction = source.versionId === null ? "s3:GetObject" : "s3:GetObjectVersion";
  if (!request.signature.allows(readAction, objectArn(source.bucket, source.key))) throw new S3Error("AccessDenied");
  const object = findSource(store, source, isKnown);
  const { size, etag, checksum } = object;
  const details = { headers: newDetails(request, object, isReplacing), checksum };
  const blob = await store.blobs.duplicate(object.blob);
  const published = store.publish(request.settings, {
    key: request.key,
    requestId: request.requestId,
    sourceIp: request.http.socket.remoteAddress ?? "127.0.0.1",
    reason: "CopyObject",
    content: { blob, size, etag, details },
  });
  return {
    status: 200,
    headers: {
      ...(published.versionId === undefined ? {} : { "x-amz-version-id": published.versionId }),
      ...(object.versionId === "null" ? {} : { "x-amz-copy-source-version-id": object.versionId }),
    },
    body: s3Document("CopyObjectResult", [
      ["ETag", `"${etag}"`],
      ["LastModified", published.modifiedAt.toISOString()],
    ]),
  };
}
