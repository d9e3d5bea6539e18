import {
  DeleteObjectsCommand,
  GetBucketLoggingCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from "@aws-sdk/client-s3";

/** Deletes every version and delete marker of a bucket, and tells how many there were. */
export async function emptyBucket(s3: S3Client, bucket: string): Promise<number> {
  let count = 0;
  while (true) {
    const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }));
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (Objects.length === 0) return count;
    const { Errors } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
    const [first] = Errors ?? [];
    if (first) throw new Error(`${bucket} could not be emptied (${first.Code}). Run this again.`);
    count += Objects.length;
  }
}

/** The bucket that a bucket's access logs go to. */
export async function accessLogBucket(s3: S3Client, bucket: string): Promise<string | undefined> {
  const { LoggingEnabled } = await s3.send(new GetBucketLoggingCommand({ Bucket: bucket }));
  return LoggingEnabled?.TargetBucket;
}
