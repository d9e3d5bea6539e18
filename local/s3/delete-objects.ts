import { S3Error } from "./errors.ts";
import { planPayload, receivePayload } from "./payload.ts";
import { checkedVersionId } from "./read-object.ts";
import type { S3Reply } from "./reply.ts";
import type { S3Request } from "./request.ts";
import type { ObjectStore } from "./store.ts";
import { decodeText, type XmlElement, xmlDocument } from "./xml.ts";

const requestBytesMax = 2 * 1024 * 1024;
const objectsMax = 1000;

interface Deletion {
  /** The version that is gone, or the marker's that hides the object; undefined without versioning. */
  versionId: string | undefined;
  /** What was made or removed is a delete marker. */
  isMarker: boolean;
}

function deleteOne(request: S3Request, store: ObjectStore, key: string, versionId: string | null): Deletion {
  const { settings, bucket } = request;
  if (versionId === null && settings.versioned) return { versionId: store.mark(settings, key), isMarker: true };
  const { removed, freed } = store.index.remove(bucket, key, versionId === null ? "null" : checkedVersionId(versionId));
  void store.blobs.remove(freed);
  return { versionId: versionId ?? undefined, isMarker: removed?.kind === "marker" };
}

/** DeleteObject: a marker in a versioned bucket, final for a version; what is not there is deleted just as well. */
export async function deleteObject(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const { versionId, isMarker } = deleteOne(request, store, request.key, request.query.get("versionId"));
  return {
    status: 204,
    headers: {
      ...(versionId === undefined ? {} : { "x-amz-version-id": versionId }),
      ...(isMarker ? { "x-amz-delete-marker": "true" } : {}),
    },
  };
}

function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? undefined : decodeText(text);
}

function parseDeletions(xml: string): { quiet: boolean; objects: { key: string; versionId: string | undefined }[] } {
  const body = /^(?:\s*<\?xml[^>]*\?>)?\s*<Delete(?:\s[^>]*)?>(.*)<\/Delete>\s*$/s.exec(xml)?.[1];
  const parts = [...(body ?? "").matchAll(/<Object>(.*?)<\/Object>/gs)];
  const objects = parts.map(([, part = ""]) => {
    const key = element(part, "Key");
    if (!key) throw new S3Error("MalformedXML");
    return { key, versionId: element(part, "VersionId") };
  });
  if (objects.length === 0 || objects.length > objectsMax) throw new S3Error("MalformedXML");
  return { quiet: element(body ?? "", "Quiet") === "true", objects };
}

function deletedElement(
  request: S3Request,
  store: ObjectStore,
  key: string,
  versionId: string | undefined,
): XmlElement {
  const deletion = deleteOne(request, store, key, versionId ?? null);
  const children: XmlElement[] = [["Key", key]];
  if (versionId !== undefined) children.push(["VersionId", versionId]);
  if (deletion.isMarker) children.push(["DeleteMarker", true], ["DeleteMarkerVersionId", deletion.versionId ?? ""]);
  return ["Deleted", children];
}

/** DeleteObjects: each object on its own; one that cannot be deleted is reported beside the others. */
export async function deleteObjects(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const plan = planPayload(request);
  if (plan.length > requestBytesMax) throw new S3Error("MaxMessageLengthExceeded");
  const pieces: Buffer[] = [];
  await receivePayload(request.body(), plan, (piece) => void pieces.push(piece));
  const { quiet, objects } = parseDeletions(Buffer.concat(pieces).toString("utf8"));

  const results: XmlElement[] = [];
  for (const { key, versionId } of objects) {
    try {
      const deleted = deletedElement(request, store, key, versionId);
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
  return { status: 200, body: xmlDocument("DeleteResult", results) };
}
