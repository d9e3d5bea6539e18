import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import * as z from "zod";
import { buildValuesKey } from "./app-names.ts";
import { isNamed, shortCallDefaults } from "./clients.ts";

export interface BuildValues {
  /** The values of the variables that a build was made with; `undefined` if none were kept. They are secret. */
  read(projectId: string, buildId: string): Promise<string[] | undefined>;
}

const stored = z.array(z.string());

export function buildValues({ ARTIFACTS_BUCKET }: { ARTIFACTS_BUCKET: string }): BuildValues {
  const s3 = new S3Client({
    ...shortCallDefaults(),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined,
  });
  return {
    async read(projectId, buildId) {
      try {
        const Key = buildValuesKey(projectId, buildId);
        const object = await s3.send(new GetObjectCommand({ Bucket: ARTIFACTS_BUCKET, Key }));
        return stored.parse(JSON.parse((await object.Body?.transformToString()) ?? "[]"));
      } catch (error) {
        if (isNamed(error, "NoSuchKey", "NotFound")) return undefined;
        throw error;
      }
    },
  };
}
