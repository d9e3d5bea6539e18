import {
  DeleteObjectsCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsOutput,
  type S3Client,
} from "@aws-sdk/client-s3";

async function versionsOf(s3: S3Client, bucket: string): Promise<ListObjectVersionsOutput> {
  try {
    return await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }));
  } catch (error) {
    if (error instanceof Error && error.name === "NoSuchBucket") return {};
    throw error;
  }
}

/** Deletes every version and delete marker of a bucket and returns their number; 0 if the bucket does not exist. */
export async function emptyBucket(s3: S3Client, bucket: string): Promise<number> {
  let count = 0;
  while (true) {
    const { Versions = [], DeleteMarkers = [] } = await versionsOf(s3, bucket);
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (Objects.length === 0) return count;
    const { Errors } = await s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }));
    const [first] = Errors ?? [];
    if (first) throw new Error(`${bucket} could not be emptied (${first.Code}). Run this again.`);
    count += Objects.length;
  }
}
