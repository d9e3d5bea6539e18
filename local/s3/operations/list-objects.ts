import * as z from "zod";
import { uriEncode } from "../../aws/signature/canonical.ts";
import type { XmlElement } from "../../aws/xml.ts";
import { s3Document } from "../document.ts";
import { S3Error } from "../errors.ts";
import type { S3Reply } from "../reply.ts";
import type { S3Request } from "../request.ts";
import type { ObjectStore } from "../store/store.ts";
import type { ObjectVersion, Position } from "../store/version-index.ts";
import { afterPrefix, commonPrefix, endOf, type ListEntry, listPage, startOf } from "./list-walk.ts";

const listSchema = z.object({
  prefix: z.string().default(""),
  delimiter: z.string().default(""),
  "max-keys": z
    .string()
    .regex(/^\d{1,9}$/)
    .default("1000")
    .transform((text) => Math.min(Number(text), 1000)),
  "encoding-type": z.literal("url").optional(),
});

const positionSchema = z.tuple([z.string(), z.number()]);

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", { message });
}

function readList(query: URLSearchParams) {
  const parsed = listSchema.safeParse(Object.fromEntries(query));
  if (!parsed.success) throw invalid("Provided max-keys or encoding-type is not valid");
  const { prefix, delimiter, "max-keys": max, "encoding-type": encoding } = parsed.data;
  const text = (key: string) => (encoding === "url" ? uriEncode(key).replaceAll("%2F", "/") : key);
  const common: XmlElement[] = [
    ["Prefix", text(prefix)],
    ["MaxKeys", max],
    ...(delimiter === "" ? [] : [["Delimiter", text(delimiter)] as const]),
    ...(encoding === undefined ? [] : [["EncodingType", encoding] as const]),
  ];
  return { prefix, delimiter, max, text, common };
}

/** Skips the keys before the prefix. */
function notBefore(prefix: string, from: Position): Position {
  return Buffer.compare(Buffer.from(from.key), Buffer.from(prefix)) < 0 ? startOf(prefix) : from;
}

function decodeToken(token: string): Position {
  try {
    const [key, below] = positionSchema.parse(JSON.parse(Buffer.from(token, "base64url").toString("utf8")));
    return { key, below };
  } catch {
    throw invalid("The continuation token provided is incorrect");
  }
}

function objectElements(version: ObjectVersion, text: (key: string) => string): XmlElement[] {
  const common: XmlElement[] = [
    ["Key", text(version.key)],
    ["LastModified", version.modifiedAt.toISOString()],
  ];
  if (version.kind === "marker") return common;
  return [...common, ["ETag", `"${version.etag}"`], ["Size", version.size], ["StorageClass", "STANDARD"]];
}

function prefixElement(prefix: string, text: (key: string) => string): XmlElement {
  return ["CommonPrefixes", [["Prefix", text(prefix)]]];
}

/** ListObjectsV2: the current objects by key. */
export async function listObjects(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const { prefix, delimiter, max, text, common } = readList(request.query);
  const token = request.query.get("continuation-token");
  const startAfter = request.query.get("start-after");
  const start = token === null ? endOf(startAfter ?? "") : decodeToken(token);
  const { entries, next } = listPage({
    prefix,
    delimiter,
    max,
    from: notBefore(prefix, start),
    fetch: (from, limit) => store.index.currentObjects(request.bucket, from, limit),
    after: (version) => endOf(version.key),
  });
  const nextToken = next && Buffer.from(JSON.stringify([next.key, next.below])).toString("base64url");
  return {
    status: 200,
    body: s3Document("ListBucketResult", [
      ["Name", request.bucket],
      ...common,
      ["KeyCount", entries.length],
      ["IsTruncated", next !== undefined],
      ...(token === null ? [] : [["ContinuationToken", token] as const]),
      ...(startAfter === null ? [] : [["StartAfter", text(startAfter)] as const]),
      ...(nextToken === undefined ? [] : [["NextContinuationToken", nextToken] as const]),
      ...entries.map(
        (entry): XmlElement =>
          entry.kind === "prefix"
            ? prefixElement(entry.prefix, text)
            : ["Contents", objectElements(entry.version, text)],
      ),
    ]),
  };
}

function versionStart(request: S3Request, store: ObjectStore, prefix: string, delimiter: string): Position {
  const keyMarker = request.query.get("key-marker") ?? "";
  const versionMarker = request.query.get("version-id-marker") ?? "";
  if (versionMarker !== "") {
    const version = store.index.version(request.bucket, keyMarker, versionMarker);
    return version ? { key: keyMarker, below: version.sequence } : startOf(keyMarker);
  }
  // If the last page ended with a common prefix, that prefix is the marker, and this page starts after all its keys.
  const isGroup = keyMarker !== "" && commonPrefix(keyMarker, prefix, delimiter) === keyMarker;
  return (isGroup ? afterPrefix(keyMarker) : undefined) ?? endOf(keyMarker);
}

function versionElement(entry: ListEntry, text: (key: string) => string): XmlElement {
  if (entry.kind === "prefix") return prefixElement(entry.prefix, text);
  const { version } = entry;
  const name = version.kind === "marker" ? "DeleteMarker" : "Version";
  const identity: XmlElement[] = [
    ["VersionId", version.versionId],
    ["IsLatest", version.isLatest],
  ];
  return [name, [...objectElements(version, text), ...identity]];
}

function nextMarkers(entry: ListEntry | undefined, text: (key: string) => string): XmlElement[] {
  if (!entry) return [];
  if (entry.kind === "prefix") return [["NextKeyMarker", text(entry.prefix)]];
  return [
    ["NextKeyMarker", text(entry.version.key)],
    ["NextVersionIdMarker", entry.version.versionId],
  ];
}

/** ListObjectVersions: every version and delete marker, by key, the newest first. */
export async function listVersions(request: S3Request, store: ObjectStore): Promise<S3Reply> {
  const { prefix, delimiter, max, text, common } = readList(request.query);
  const { entries, next } = listPage({
    prefix,
    delimiter,
    max,
    from: notBefore(prefix, versionStart(request, store, prefix, delimiter)),
    fetch: (from, limit) => store.index.allVersions(request.bucket, from, limit),
    after: (version) => ({ key: version.key, below: version.sequence }),
  });
  return {
    status: 200,
    body: s3Document("ListVersionsResult", [
      ["Name", request.bucket],
      ...common,
      ["KeyMarker", text(request.query.get("key-marker") ?? "")],
      ["VersionIdMarker", request.query.get("version-id-marker") ?? ""],
      ["IsTruncated", next !== undefined],
      ...(next === undefined ? [] : nextMarkers(entries.at(-1), text)),
      ...entries.map((entry) => versionElement(entry, text)),
    ]),
  };
}
