import { children, childText, parseXml, type XmlElement } from "../../aws/xml.ts";
import { objectArn } from "../access.ts";
import { checkDeleteCondition } from "../conditions.ts";
import { s3Document } from "../document.ts";
import { S3Error } from "../errors.ts";
import { planPayload, receivePayload } from "../payload.ts";
import type { S3Reply } from "../reply.ts";
import type { S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";
import { checkedVersionId } from "./read-object.ts";

const requestBytesMax = 2 * 1024 * 1024;
const objectsMax = 1000;

interface Deletion {
  /** The version id of the deleted version or of the new delete marker; undefined without versioning. */
  versionId: string | undefined;
  /** A delete marker was created or removed. */
  isMarker: boolean;
}

function deleteOne(
  request: S3Request,
  store: ObjectStore,
  key: string,
  versionId: string | null,
  tag: string | undefined,
): Deletion {
  const { settings, bucket } = request;
  const action = versionId === null ? "s3:DeleteObject" : "s3:DeleteObjectVersion";
  if (!request.signature.allows(action, objectArn(bucket, key))) throw new S3Error("AccessDenied");
  if (tag !== undefined) {
    const latest = store.index.latest(bucket, key);
    checkDeleteCondition(tag, versionId, key, latest?.kind === "object" ? latest : undefined);
  }
  if (versionId === null && settings.versioned) {
    return { versionId: store.addDeleteMarker(settings, key), isMarker: true };
  }
  const { removed, freed } = store.index.remove(bucket, key, versionId === null ? "null" : checkedVersionId(versionId));
  void store.blobs.remove(freed);
  return { versionId: versionId ?? undefined, isMarker: removed?.kind === "marker" };
}

/** DeleteObject: adds a delete marker in a versioned bucket, or deletes a version. As in S3, a missing object is no error. */
export async function deleteObject(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const { versionId, isMarker } = deleteOne(
    request,
    store,
    request.key,
    request.query.get("versionId"),
    request.http.headers["if-match"],
  );
  return {
    status: 204,
    headers: {
      ...(versionId === undefined ? {} : { "x-amz-version-id": versionId }),
      ...(isMarker ? { "x-amz-delete-marker": "true" } : {}),
    },
  };
}

interface ObjectToDelete {
  key: string;
  versionId: string | undefined;
  /** The object is deleted only if it has this entity tag. */
  tag: string | undefined;
}

function parseDeletions(xml: string): { quiet: boolean; objects: ObjectToDelete[] } {
  // The elements are counted before parsing, because parsing 2 MB of empty elements would take seconds.
  const tooMany = xml.split("<Object").length - 1 > objectsMax;
  const body = tooMany ? undefined : parseXml(xml, "Delete");
  const objects = (body ? children(body, "Object") : []).map((object) => {
    const key = childText(object, "Key");
    if (!key) throw new S3Error("MalformedXML");
    const other = ["LastModifiedTime", "Size"].find((name) => children(object, name).length > 0);
    if (other !== undefined) throw new S3Error("NotImplemented", { fields: [["Element", other]] });
    return { key, versionId: childText(object, "VersionId"), tag: childText(object, "ETag") };
  });
  if (!body || objects.length === 0) throw new S3Error("MalformedXML");
  return { quiet: childText(body, "Quiet") === "true", objects };
}

function deletedElement(request: S3Request, store: ObjectStore, { key, versionId, tag }: ObjectToDelete): XmlElement {
  const deletion = deleteOne(request, store, key, versionId ?? null, tag);
  const children: XmlElement[] = [["Key", key]];
  if (versionId !== undefined) children.push(["VersionId", versionId]);
  if (deletion.isMarker) children.push(["DeleteMarker", true], ["DeleteMarkerVersionId", deletion.versionId ?? ""]);
  return ["Deleted", children];
}

/** DeleteObjects: deletes each object separately, and reports those that cannot be deleted as errors in the result. */
export async function deleteObjects(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const plan = planPayload(request);
  if (plan.length > requestBytesMax) throw new S3Error("MaxMessageLengthExceeded");
  const pieces: Buffer[] = [];
  await receivePayload(request.body(), plan, (piece) => void pieces.push(piece));
  const { quiet, objects } = parseDeletions(Buffer.concat(pieces).toString("utf8"));

  const results: XmlElement[] = [];
  for (const object of objects) {
    const { key, versionId } = object;
    try {
      const deleted = deletedElement(request, store, object);
      if (!quiet) results.push(deleted);
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      results.push([
        "Error",
        [
          ["Key", key],
          ["VersionId", versionId ?? ""],
          ["Code", error.code],
          ["Message", error.message],
        ],
      ]);
    }
  }
  return { status: 200, body: s3Document("DeleteResult", results) };
}
