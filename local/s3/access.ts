import type { VerifiedSignature } from "../aws/signature/verify.ts";
import type { Target } from "./request.ts";

export const objectArn = (bucket: string, key: string) => `arn:aws:s3:::${bucket}/${key}`;

/** The IAM action that a request needs; undefined for DeleteObjects, which checks the action of each object itself. */
function neededAction(method: string, target: Target): string | undefined {
  const isVersion = target.query.has("versionId");
  if (target.key === "") {
    if (method === "POST") return undefined;
    return target.query.has("versions") ? "s3:ListBucketVersions" : "s3:ListBucket";
  }
  if (method === "PUT") return "s3:PutObject";
  if (method === "DELETE") return isVersion ? "s3:DeleteObjectVersion" : "s3:DeleteObject";
  return isVersion ? "s3:GetObjectVersion" : "s3:GetObject";
}

/** Whether the caller's session policy allows the request; without a session policy everything is allowed. */
export function mayRequest(signature: VerifiedSignature, method: string, target: Target): boolean {
  const action = neededAction(method, target);
  if (action === undefined) return true;
  const resource = target.key === "" ? `arn:aws:s3:::${target.bucket}` : objectArn(target.bucket, target.key);
  return signature.allows(action, resource);
}
