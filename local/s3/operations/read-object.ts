import { validateHeaderValue } from "node:http";
import { checkReadConditions, rangeApplies } from "../conditions.ts";
import { S3Error } from "../errors.ts";
import type { S3Reply } from "../reply.ts";
import type { S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";
import type { ObjectVersion, StoredObject } from "../store/version-index.ts";

const overrides = {
  "response-cache-control": "cache-control",
  "response-content-disposition": "content-disposition",
  "response-content-encoding": "content-encoding",
  "response-content-language": "content-language",
  "response-content-type": "content-type",
  "response-expires": "expires",
};

/** Returns a version id that a client sent; throws InvalidArgument, as S3 does, if it is not valid. */
export function checkedVersionId(versionId: string): string {
  if (/^[A-Za-z0-9._-]{1,1024}$/.test(versionId)) return versionId;
  throw new S3Error("InvalidArgument", {
    message: "Invalid version id specified",
    fields: [
      ["ArgumentName", "versionId"],
      ["ArgumentValue", versionId],
    ],
  });
}

function markerHeaders(version: ObjectVersion): Record<string, string> {
  return { "x-amz-delete-marker": "true", "x-amz-version-id": version.versionId };
}

/** Finds an object; throws the error of S3 if it was deleted, does not exist, or its file is missing. */
export function findObject(store: ObjectStore, bucket: string, key: string, versionId: string | null): StoredObject {
  if (versionId === null) {
    const latest = store.index.latest(bucket, key);
    if (latest?.kind === "object" && store.blobs.has(latest.blob)) return latest;
    const headers = latest?.kind === "marker" ? markerHeaders(latest) : {};
    throw new S3Error("NoSuchKey", { fields: [["Key", key]], headers });
  }
  const version = store.index.version(bucket, key, checkedVersionId(versionId));
  if (version?.kind === "object" && store.blobs.has(version.blob)) return version;
  if (version && version.kind !== "object") {
    const headers = { ...markerHeaders(version), allow: "DELETE", "last-modified": version.modifiedAt.toUTCString() };
    throw new S3Error("MethodNotAllowed", { headers });
  }
  const fields = [["Key", key] as const, ["VersionId", versionId] as const];
  throw new S3Error("NoSuchVersion", { fields });
}

/** The byte range of a Range header, with inclusive ends; undefined if the header does not apply and the whole object is sent. */
function parseRange(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  if (start >= size || (first === "" && Number(last) === 0)) {
    throw new S3Error("InvalidRange", {
      headers: { "content-range": `bytes */${size}` },
      fields: [
        ["RangeRequested", header ?? ""],
        ["ActualObjectSize", size],
      ],
    });
  }
  return { start, end };
}

function overriddenHeaders(query: URLSearchParams): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [parameter, header] of Object.entries(overrides)) {
    const value = query.get(parameter);
    if (value === null) continue;
    try {
      validateHeaderValue(header, value);
    } catch {
      throw new S3Error("InvalidArgument", { message: "Header value cannot be represented using ISO-8859-1." });
    }
    headers[header] = value;
  }
  return headers;
}

/** GetObject and HeadObject. */
export async function readObject(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const object = findObject(store, request.bucket, request.key, request.query.get("versionId"));
  const notModified = checkReadConditions(request, object);
  if (notModified) return notModified;
  const wanted = rangeApplies(request, object) ? request.http.headers.range : undefined;
  const range = parseRange(wanted, object.size);
  const { start, end } = range ?? { start: 0, end: object.size - 1 };
  const { checksum } = object;
  const wantsChecksum = checksum && !range && request.amz("x-amz-checksum-mode")?.toUpperCase() === "ENABLED";
  const headers: Record<string, string> = {
    ...object.headers,
    ...overriddenHeaders(request.query),
    "accept-ranges": "bytes",
    "content-length": String(end - start + 1),
    etag: `"${object.etag}"`,
    "last-modified": object.modifiedAt.toUTCString(),
    ...(request.settings.versioned ? { "x-amz-version-id": object.versionId } : {}),
    ...(range ? { "content-range": `bytes ${start}-${end}/${object.size}` } : {}),
    ...(wantsChecksum ? { [checksum.header]: checksum.value, "x-amz-checksum-type": "FULL_OBJECT" } : {}),
  };
  const status = range ? 206 : 200;
  if (request.method === "HEAD" || object.size === 0) return { status, headers };
  // Opened in the same turn of the event loop as the lookup, so that an overwrite cannot delete the file in between.
  return { status, headers, body: { descriptor: store.blobs.open(object.blob), start, end } };
}
