import type { FileReply, FileStatus } from "../../../api/storage.ts";
import type { SeenObject } from "../../aws/files.ts";
import { base32, randomText } from "../../table/ids.ts";

/** A file as it is stored: its entry in the table. */
export interface FileEntry {
  id: string;
  storageId: string;
  name: string;
  mime: string;
  size: number;
  status: FileStatus;
  object?: Omit<SeenObject, "size"> | undefined;
  revision: number;
  createdAt: string;
  updatedAt: string;
}

/** The ids in the key of a file's object and of its entry. */
export interface FileOwner {
  organizationId: string;
  storageId: string;
  fileId: string;
}

/** The S3 key of a file's object. It contains the ids by which the upload's event is matched to the entry. */
export function objectKey({ organizationId, storageId, fileId }: FileOwner): string {
  return `${organizationId}/${storageId}/${fileId}`;
}

/** The ids in an object's key; `undefined` for another key. */
export function objectOwner(key: string): FileOwner | undefined {
  const [, organizationId, storageId, fileId] = /^(org_\w{26})\/(sto_\w{26})\/(fil_\w{26})$/.exec(key) ?? [];
  return organizationId && storageId && fileId ? { organizationId, storageId, fileId } : undefined;
}

const idLength = { time: 10, request: 14, index: 2 } as const;

/** Ids for the files of one request, such that the list (newest first) has them in the order of the request. */
export function newFileIds(count: number, now: Date): string[] {
  const prefix = `fil_${base32(now.getTime(), idLength.time)}${randomText(idLength.request)}`;
  return Array.from({ length: count }, (_, index) => prefix + base32(count - 1 - index, idLength.index));
}

/** Entries for what a client wants to upload, in its order: `pending`, size 0 (docs/api.md, Storage). */
export function newFiles(storageId: string, wanted: readonly { name: string; mime: string }[], now: Date): FileEntry[] {
  const at = now.toISOString();
  const ids = newFileIds(wanted.length, now);
  return wanted.map(({ name, mime }, index) => ({
    id: ids[index] ?? "",
    storageId,
    name,
    mime,
    size: 0,
    status: "pending",
    revision: 0,
    createdAt: at,
    updatedAt: at,
  }));
}

function isSeen(known: FileEntry["object"], seen: SeenObject | undefined): boolean {
  if (!known || !seen) return known === seen;
  return known.etag === seen.etag && known.modifiedAt === seen.modifiedAt && known.version === seen.version;
}

/** The entry for this object, or for none. Returns the same row, not a copy, if nothing changes. */
export function followed(row: FileEntry, seen: SeenObject | undefined, now: Date): FileEntry {
  if (isSeen(row.object, seen)) return row;
  const { object: _, ...rest } = row;
  const updatedAt = new Date(Math.max(now.getTime(), Date.parse(row.updatedAt))).toISOString();
  if (!seen) return { ...rest, size: 0, status: "pending", updatedAt };
  const { size, ...object } = seen;
  return { ...rest, size, status: "active", object, updatedAt };
}

/** The path is the storage key as the client knows it, and equals the id (docs/api.md, Storage). */
export function fileReply({ id, name, mime, size, status, createdAt, updatedAt }: FileEntry): FileReply {
  return { id, name, path: id, mime, size, status, error: null, createdAt, updatedAt };
}
