import { DeleteObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { isNamed } from "./clients.ts";

/** What S3 says of an object. `version` tells two writes of the same bytes in one second apart, where versions are kept. */
export interface SeenObject {
  size: number;
  etag: string;
  modifiedAt: string;
  version: string;
}

export interface StoredFiles {
  /** What is stored at this key now; `undefined` when nothing is. */
  find(key: string): Promise<SeenObject | undefined>;
  /** Removes what is stored at this key; nothing there is as good. */
  remove(key: string): Promise<void>;
}

export function storedFiles(environment: { FILES_BUCKET: string }): StoredFiles {
  const s3 = new S3Client({
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });
  const Bucket = environment.FILES_BUCKET;
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
    async remove(key) {
      await s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    },
  };
}
