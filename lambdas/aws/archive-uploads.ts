import { limits } from "../../api/limits.ts";
import { presigner } from "./presigner.ts";
import { assumeRole } from "./signer.ts";

export interface ArchiveUploads {
  /** A presigned address for one PUT of `application/zip` to this key, valid for one hour. */
  address(key: string, now: Date): Promise<string>;
}

export function archiveUploads(environment: { ARCHIVES_BUCKET: string; ARCHIVES_SIGNER_ROLE: string }): ArchiveUploads {
  return {
    address: async (key, now) =>
      presigner({
        bucket: environment.ARCHIVES_BUCKET,
        validSeconds: limits.addressValidSeconds,
        credentials: await assumeRole(environment.ARCHIVES_SIGNER_ROLE),
        now,
      })({ method: "PUT", key, contentType: "application/zip" }),
  };
}
