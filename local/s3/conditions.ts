import { S3Error } from "./errors.ts";
import type { S3Reply } from "./reply.ts";
import type { S3Request } from "./request.ts";
import type { StoredObject } from "./store/version-index.ts";

const tagsOf = (header: string) => header.split(",").map((tag) => tag.trim().replace(/^W\//, "").replaceAll('"', ""));

/** Whether a list of entity tags contains the object's tag; `*` matches every object. */
function names(header: string, object: StoredObject): boolean {
  return header.trim() === "*" || tagsOf(header).includes(object.etag);
}

/** The date of a header in whole seconds; an invalid date is ignored. */
function secondsOf(header: string | undefined): number | undefined {
  const milliseconds = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}

const failed = (condition: string) => new S3Error("PreconditionFailed", { fields: [["Condition", condition]] });

/**
 * Checks the conditions of a GET or HEAD, entity tags before dates (RFC 9110, section 13.2.2). Returns undefined if the
 * object is to be sent, otherwise the 304 answer. Throws PreconditionFailed.
 */
export function checkReadConditions(request: S3Request, object: StoredObject): S3Reply | undefined {
  const { headers } = request.http;
  const modified = Math.floor(object.modifiedAt.getTime() / 1000);
  const [ifMatch, ifNoneMatch] = [headers["if-match"], headers["if-none-match"]];
  const unmodifiedSince = secondsOf(headers["if-unmodified-since"]);
  if (ifMatch !== undefined) {
    if (!names(ifMatch, object)) throw failed("If-Match");
  } else if (unmodifiedSince !== undefined && modified > unmodifiedSince) throw failed("If-Unmodified-Since");

  const modifiedSince = secondsOf(headers["if-modified-since"]);
  const isKnown =
    ifNoneMatch === undefined ? modifiedSince !== undefined && modified <= modifiedSince : names(ifNoneMatch, object);
  if (!isKnown) return undefined;
  return {
    status: 304,
    headers: {
      etag: `"${object.etag}"`,
      "last-modified": object.modifiedAt.toUTCString(),
      ...(request.settings.versioned ? { "x-amz-version-id": object.versionId } : {}),
    },
  };
}

/** Whether a Range header applies: not if If-Range names an older state of the object. */
export function rangeApplies(request: S3Request, object: StoredObject): boolean {
  const header = request.http.headers["if-range"];
  if (typeof header !== "string") return true;
  if (header.startsWith('"')) return header === `"${object.etag}"`;
  return secondsOf(header) === Math.floor(object.modifiedAt.getTime() / 1000);
}

/**
 * Throws unless the current object has this entity tag (`*`: any). As on S3, a missing object is NoSuchKey, and a
 * condition together with a version id is NotImplemented.
 */
export function checkDeleteCondition(
  tag: string,
  versionId: string | null,
  key: string,
  current: StoredObject | undefined,
): void {
  if (versionId !== null) throw new S3Error("NotImplemented", { fields: [["Header", "If-Match"]] });
  if (!current) throw new S3Error("NoSuchKey", { fields: [["Key", key]] });
  if (tag.trim() !== "*" && tag.trim().replaceAll('"', "") !== current.etag) throw failed("If-Match");
}
