import { DeleteObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { clientDefaults, isNamed } from "./clients.ts";

/** An object's metadata in S3. In a versioned bucket, `version` distinguishes two writes of the same bytes within one second. */
export interface SeenObject {
  size: number;
  etag: string;
  modifiedAt: string;
  version: string;
}

export interface StoredFiles {
  /** The object stored at this key; `undefined` if there is none. */
  find(key: string): Promise<SeenObject | undefined>;
}

export interface FileRemover {
  /** Deletes the object at this key; succeeds if there is none. */
  remove(key: string): Promise<void>;
}

function s3Client(): S3Client {
  return new S3Client({
    ...clientDefaults({ requestTimeout: 3_000 }),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });
}

export function storedFiles({ FILES_BUCKET: Bucket }: { FILES_BUCKET: string }): StoredFiles {
  const s3 = s3Client();
  return {
    async find(key) {
      try {
        const head = await s3.send(new HeadObjectCommand({ Bucket, Key: key }));
        if (head.LastModified === undefined) throw new Error("S3 described an object without its date");
        return {
          size: head.ContentLength ?? 0,
          etag: head.ETag ?? "",
          modifiedAt: head.LastModified.toISOString(),
          version: head.VersionId ?? "null",
        };
      } catch (error) {
        if (isNamed(error, "NotFound", "NoSuchKey")) return undefined;
        throw error;
      }
    },
  };
}

export function fileRemover({ FILES_BUCKET: Bucket }: { FILES_BUCKET: string }): FileRemover {
  const s3 = s3Client();
  return {
    async remove(key) {
      await s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    },
  };
}
