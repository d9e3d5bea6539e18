import { CopyObjectCommand, GetObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { clientDefaults, isNamed } from "./clients.ts";

export interface ArchiveVersion {
  key: string;
  version: string;
}

/** Random access to one pinned version, for the zip reader. */
export interface ArchiveBytes {
  size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

export interface ArchiveReader {
  /** The newest version at this key, or the given one; `undefined` if it does not exist. */
  find(key: string, version?: string): Promise<{ version: string; size: number } | undefined>;
  bytes(archive: ArchiveVersion, size: number): ArchiveBytes;
}

export interface ArchiveCopier {
  /** Copies a pinned version to another key; `undefined` if the source does not exist. */
  copy(from: ArchiveVersion, toKey: string): Promise<{ version: string } | undefined>;
}

function client(): S3Client {
  return new S3Client({
    ...clientDefaults({ requestTimeout: 30_000 }),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });
}

const isGone = (error: unknown) => isNamed(error, "NoSuchKey", "NotFound", "NoSuchVersion", "NoSuchBucket");

export function archiveReader(environment: { ARCHIVES_BUCKET: string }): ArchiveReader {
  const s3 = client();
  const Bucket = environment.ARCHIVES_BUCKET;
  return {
    async find(key, version) {
      try {
        const head = await s3.send(new HeadObjectCommand({ Bucket, Key: key, VersionId: version }));
        return { version: head.VersionId ?? "null", size: head.ContentLength ?? 0 };
      } catch (error) {
        if (isGone(error) || isNamed(error, "MethodNotAllowed", "405")) return undefined;
        throw error;
      }
    },
    bytes: ({ key, version }, size) => ({
      size,
      async read(offset, length) {
        if (length === 0) return new Uint8Array();
        const Range = `bytes=${offset}-${offset + length - 1}`;
        const object = await s3.send(new GetObjectCommand({ Bucket, Key: key, VersionId: version, Range }));
        return (await object.Body?.transformToByteArray()) ?? new Uint8Array();
      },
    }),
  };
}

export function archiveCopier(environment: { ARCHIVES_BUCKET: string }): ArchiveCopier {
  const s3 = client();
  const Bucket = environment.ARCHIVES_BUCKET;
  return {
    async copy(from, toKey) {
      try {
        const CopySource = `${Bucket}/${from.key}?versionId=${encodeURIComponent(from.version)}`;
        const copied = await s3.send(new CopyObjectCommand({ Bucket, Key: toKey, CopySource }));
        return { version: copied.VersionId ?? "null" };
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },
  };
}
