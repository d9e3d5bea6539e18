import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { S3Behavior } from "../behavior.ts";
import type { BucketSettings } from "../request.ts";
import { type Blobs, openBlobs } from "./blobs.ts";
import { type Arrival, type ObjectCreated, objectCreated } from "./object-created.ts";
import { openOutbox } from "./outbox.ts";
import { type NewVersion, openVersionIndex, type VersionIndex } from "./version-index.ts";

/** A new object whose bytes are already in a blob. */
export type ArrivedObject = Pick<Arrival, "key" | "requestId" | "sourceIp" | "reason"> & {
  content: NonNullable<NewVersion["content"]>;
};

export interface Published {
  /** Undefined in a bucket without versioning. */
  versionId: string | undefined;
  modifiedAt: Date;
}

/** The objects, versions and undelivered events of all buckets, in one folder. */
export interface ObjectStore {
  index: VersionIndex;
  blobs: Blobs;
  /** Publishes an object and stores its event in one transaction, then starts the delivery. */
  publish(bucket: BucketSettings, object: ArrivedObject): Published;
  /** Adds a delete marker; returns its version id. */
  addDeleteMarker(bucket: BucketSettings, key: string): string;
  now(): Date;
  resumeDeliveries(): void;
  close(): void;
}

export interface StoreOptions {
  dir: string;
  region: string;
  now: () => Date;
  onObjectCreated: (event: ObjectCreated) => Promise<void>;
  onError: (error: unknown) => void;
  behavior: S3Behavior;
}

const newVersionId = () => randomBytes(24).toString("base64url");

/**
 * Only one process can open the database; a second one gets "database is locked". A file that cannot be opened is closed, so
 * that it can be opened when it has been repaired.
 */
function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Write-ahead logging survives a SIGKILL at any instant without a sync for each write.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export async function openStore(options: StoreOptions): Promise<ObjectStore> {
  const { dir, region, now } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const database = openDatabase(join(dir, "index.sqlite"));
  const index = openVersionIndex(database);
  const outbox = openOutbox(database, {
    deliver: options.onObjectCreated,
    onError: options.onError,
    behavior: options.behavior,
  });
  const blobs = await openBlobs(join(dir, "blobs"));
  await blobs.removeUnknown(index.hasBlob);

  return {
    index,
    blobs,
    now,
    publish(bucket, { content, ...arrival }) {
      const versionId = bucket.versioned ? newVersionId() : undefined;
      const { key } = arrival;
      const { size, etag } = content;
      const at = now();
      const version = { bucket: bucket.name, key, versionId: versionId ?? "null", modifiedAt: at, content };
      const events: ObjectCreated[] = [];
      const { freed } = index.add(version, (sequence) => {
        const event = objectCreated({ ...arrival, bucket: bucket.name, region, size, etag, versionId, sequence, at });
        outbox.add(event);
        events.push(event);
      });
      events.forEach(outbox.dispatch);
      void blobs.remove(freed);
      return { versionId, modifiedAt: at };
    },
    addDeleteMarker(bucket, key) {
      const versionId = newVersionId();
      index.add({ bucket: bucket.name, key, versionId, modifiedAt: now() });
      return versionId;
    },
    resumeDeliveries: outbox.resume,
    close() {
      outbox.close();
      if (database.isOpen) database.close();
    },
  };
}
