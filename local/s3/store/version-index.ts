import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";

const detailsSchema = z.object({
  /** The stored headers that GET returns: content-type, content-disposition, x-amz-meta-*. */
  headers: z.record(z.string(), z.string()),
  checksum: z.object({ header: z.string(), value: z.string() }).optional(),
});
export type ObjectDetails = z.infer<typeof detailsSchema>;

interface VersionBase {
  key: string;
  /** "null" in a bucket without versioning. */
  versionId: string;
  /** Increases with every write to any object. */
  sequence: number;
  isLatest: boolean;
  modifiedAt: Date;
}
export interface StoredObject extends VersionBase, ObjectDetails {
  kind: "object";
  blob: string;
  size: number;
  /** MD5 in hex, without quotes. */
  etag: string;
}
export interface DeleteMarker extends VersionBase {
  kind: "marker";
}
export type ObjectVersion = StoredObject | DeleteMarker;

const rowSchema = z
  .object({
    key: z.string(),
    version_id: z.string(),
    sequence: z.number(),
    is_latest: z.number(),
    modified_at: z.number(),
    blob: z.string().nullable(),
    size: z.number(),
    etag: z.string(),
    details: z.string(),
  })
  .transform((row): ObjectVersion => {
    const { key, sequence, blob, size, etag } = row;
    const base = { key, sequence, versionId: row.version_id, isLatest: row.is_latest === 1 };
    const modifiedAt = new Date(row.modified_at);
    if (blob === null) return { kind: "marker", ...base, modifiedAt };
    return { kind: "object", ...base, modifiedAt, blob, size, etag, ...detailsSchema.parse(JSON.parse(row.details)) };
  });

/** A position in a list: the next rows have a greater key, or this key and a sequence below `below`. */
export interface Position {
  key: string;
  below: number;
}

export interface NewVersion {
  bucket: string;
  key: string;
  versionId: string;
  modifiedAt: Date;
  /** Undefined for a delete marker. */
  content?: { blob: string; size: number; etag: string; details: ObjectDetails };
}

/** The versions of all objects. Each change is one transaction and returns the ids of the blobs that it no longer needs. */
export interface VersionIndex {
  latest(bucket: string, key: string): ObjectVersion | undefined;
  version(bucket: string, key: string, versionId: string): ObjectVersion | undefined;
  /** Adds a version or replaces the one with the same id; `inTransaction` runs in the same transaction. */
  add(version: NewVersion, inTransaction?: (sequence: number) => void): { sequence: number; freed: string[] };
  remove(bucket: string, key: string, versionId: string): { removed: ObjectVersion | undefined; freed: string[] };
  currentObjects(bucket: string, from: Position, limit: number): ObjectVersion[];
  allVersions(bucket: string, from: Position, limit: number): ObjectVersion[];
  hasBlob(blob: string): boolean;
}

const schema = `
  CREATE TABLE IF NOT EXISTS version (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket TEXT NOT NULL, key TEXT NOT NULL, version_id TEXT NOT NULL,
    is_latest INTEGER NOT NULL, modified_at INTEGER NOT NULL,
    blob TEXT, size INTEGER NOT NULL, etag TEXT NOT NULL, details TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS version_by_id ON version (bucket, key, version_id);
  CREATE INDEX IF NOT EXISTS version_by_age ON version (bucket, key, sequence DESC);
  CREATE UNIQUE INDEX IF NOT EXISTS latest_version ON version (bucket, key) WHERE is_latest = 1;
  CREATE INDEX IF NOT EXISTS version_by_blob ON version (blob) WHERE blob IS NOT NULL;
`;

const fromPosition = "bucket = :bucket AND key >= :key AND (key > :key OR sequence < :below)";

/** Runs `change` as one transaction. */
function transaction<T>(database: DatabaseSync, change: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = change();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

const blobsOf = (rows: ObjectVersion[]) => rows.flatMap((row) => (row.kind === "object" ? [row.blob] : []));

export function openVersionIndex(database: DatabaseSync): VersionIndex {
  database.exec(schema);
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return (values: Record<string, string | number | null>) => z.array(rowSchema).parse(statement.all(values));
  };
  const byId = "bucket = :bucket AND key = :key AND version_id = :versionId";
  const latest = prepare("SELECT * FROM version WHERE bucket = :bucket AND key = :key AND is_latest = 1");
  const version = prepare(`SELECT * FROM version WHERE ${byId}`);
  const retire = prepare("UPDATE version SET is_latest = 0 WHERE bucket = :bucket AND key = :key AND is_latest = 1");
  const remove = prepare(`DELETE FROM version WHERE ${byId} RETURNING *`);
  const insert = prepare(
    `INSERT INTO version (bucket, key, version_id, is_latest, modified_at, blob, size, etag, details)
     VALUES (:bucket, :key, :versionId, 1, :modifiedAt, :blob, :size, :etag, :details) RETURNING *`,
  );
  const promote = prepare(
    `UPDATE version SET is_latest = 1 WHERE sequence = (SELECT max(sequence) FROM version WHERE bucket = :bucket AND key = :key)`,
  );
  const current = prepare(
    `SELECT * FROM version WHERE ${fromPosition} AND is_latest = 1 AND blob IS NOT NULL ORDER BY key LIMIT :limit`,
  );
  const all = prepare(`SELECT * FROM version WHERE ${fromPosition} ORDER BY key, sequence DESC LIMIT :limit`);
  const knownBlob = database.prepare("SELECT 1 FROM version WHERE blob = ?");

  return {
    latest: (bucket, key) => latest({ bucket, key })[0],
    version: (bucket, key, versionId) => version({ bucket, key, versionId })[0],
    add({ bucket, key, versionId, modifiedAt, content }, inTransaction) {
      return transaction(database, () => {
        retire({ bucket, key });
        const replaced = remove({ bucket, key, versionId });
        const { blob = null, size = 0, etag = "" } = content ?? {};
        const details = JSON.stringify(content?.details ?? { headers: {} });
        const row = { bucket, key, versionId, modifiedAt: modifiedAt.getTime(), blob, size, etag, details };
        const sequence = insert(row)[0]?.sequence ?? 0;
        inTransaction?.(sequence);
        return { sequence, freed: blobsOf(replaced) };
      });
    },
    remove(bucket, key, versionId) {
      return transaction(database, () => {
        const rows = remove({ bucket, key, versionId });
        if (rows[0]?.isLatest) promote({ bucket, key });
        return { removed: rows[0], freed: blobsOf(rows) };
      });
    },
    currentObjects: (bucket, from, limit) => current({ bucket, ...from, limit }),
    allVersions: (bucket, from, limit) => all({ bucket, ...from, limit }),
    hasBlob: (blob) => knownBlob.get(blob) !== undefined,
  };
}
