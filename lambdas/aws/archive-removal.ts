import { DeleteObjectsCommand, ListObjectVersionsCommand, S3Client } from "@aws-sdk/client-s3";
import { buildValuesPrefix } from "./app-names.ts";
import { clientDefaults } from "./clients.ts";

export interface ArchiveRemover {
  /** Deletes every version of the project's source archives, and the values that its builds were made with. */
  removeAll(project: { organizationId: string; id: string }): Promise<void>;
}

export function archiveRemover(environment: { ARCHIVES_BUCKET: string; ARTIFACTS_BUCKET: string }): ArchiveRemover {
  const s3 = new S3Client({
    ...clientDefaults({ requestTimeout: 30_000 }),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });

  async function removeBelow(Bucket: string, Prefix: string): Promise<void> {
    for (;;) {
      const page = await s3.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
      const found = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
      const Objects = found.map(({ Key, VersionId }) => ({ Key, VersionId }));
      if (Objects.length === 0) return;
      const { Errors = [] } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
      if (Errors.length > 0) throw new Error(`S3 kept ${Errors.length} versions: ${Errors[0]?.Code}`);
    }
  }

  return {
    async removeAll({ organizationId, id }) {
      await removeBelow(environment.ARCHIVES_BUCKET, `archives/${organizationId}/${id}/`);
      await removeBelow(environment.ARTIFACTS_BUCKET, buildValuesPrefix(id));
    },
  };
}
