import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { buildValuesKey } from "./app-names.ts";
import { clientDefaults } from "./clients.ts";

export interface Artifacts {
  /** The key prefix of the files for a build's image build. */
  prefix(buildId: string): string;
  /** Writes the files that the image build reads, overwriting those of an earlier attempt. */
  put(buildId: string, files: Record<string, string>): Promise<void>;
  /** Keeps the values of a build's variables, which are masked in its output. */
  keepValues(projectId: string, buildId: string, values: readonly string[]): Promise<void>;
}

export function artifacts(environment: { ARTIFACTS_BUCKET: string }): Artifacts {
  const s3 = new S3Client({
    ...clientDefaults(),
    requestChecksumCalculation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });
  const put = async (Key: string, content: string) => {
    const Body = Buffer.from(content);
    await s3.send(
      new PutObjectCommand({ Bucket: environment.ARTIFACTS_BUCKET, Key, Body, ContentLength: Body.length }),
    );
  };
  const prefix = (buildId: string) => `builds/${buildId}/`;
  return {
    prefix,
    async put(buildId, files) {
      await Promise.all(Object.entries(files).map(([name, content]) => put(prefix(buildId) + name, content)));
    },
    keepValues: (projectId, buildId, values) => put(buildValuesKey(projectId, buildId), JSON.stringify(values)),
  };
}
