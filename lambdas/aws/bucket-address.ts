import { partition } from "@aws-sdk/core/client";
import { ownRegion } from "./clients.ts";

/** The base URL of a bucket, as the S3 client resolves it: a virtual host on AWS, a path at a local endpoint. */
export function bucketAddress(bucket: string, region: string): { url: URL; folder: string } {
  const local = process.env.AWS_ENDPOINT_URL_S3;
  if (local) return { url: new URL(local), folder: `/${bucket}/` };
  const service = process.env.AWS_USE_FIPS_ENDPOINT === "true" ? "s3-fips" : "s3";
  return { url: new URL(`https://${bucket}.${service}.${region}.${partition(region).dnsSuffix}`), folder: "/" };
}

/** The origins of the presigned addresses, for a page's content security policy. */
export function uploadOrigins(environment: { ARCHIVES_BUCKET: string; FILES_BUCKET: string }): string[] {
  const buckets = [environment.ARCHIVES_BUCKET, environment.FILES_BUCKET];
  return [...new Set(buckets.map((bucket) => bucketAddress(bucket, ownRegion()).url.origin))];
}
