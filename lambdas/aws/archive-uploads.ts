import { limits } from "../../api/limits.ts";
import { roleAssumer } from "./assume-role.ts";
import { presigner } from "./presigner.ts";

export interface ArchiveUploads {
  /** A presigned address for one PUT of `application/zip` to this key, valid for one hour. */
  address(key: string, now: Date): Promise<string>;
}

export function archiveUploads(environment: { ARCHIVES_BUCKET: string; ARCHIVES_SIGNER_ROLE: string }): ArchiveUploads {
  const assumeRole = roleAssumer();
  return {
    async address(key, now) {
      const presign = presigner({
        bucket: environment.ARCHIVES_BUCKET,
        validSeconds: limits.addressValidSeconds,
        credentials: await assumeRole(environment.ARCHIVES_SIGNER_ROLE),
        now,
      });
      return presign({ method: "PUT", key, contentType: "application/zip" });
    },
  };
}
