import { randomUUID } from "node:crypto";
import * as z from "zod";
import { localAccount } from "../../sts/store.ts";

/** The EventBridge event of a new object; the key is not URL-encoded. */
export const objectCreatedSchema = z.object({
  version: z.literal("0"),
  id: z.string(),
  "detail-type": z.literal("Object Created"),
  source: z.literal("aws.s3"),
  account: z.string(),
  time: z.string(),
  region: z.string(),
  resources: z.array(z.string()),
  detail: z.object({
    version: z.literal("0"),
    bucket: z.object({ name: z.string() }),
    object: z.object({
      key: z.string(),
      size: z.number(),
      etag: z.string(),
      /** Absent in a bucket without versioning. */
      "version-id": z.string().optional(),
      /** Orders the writes to one key; compared as text. */
      sequencer: z.string(),
    }),
    "request-id": z.string(),
    requester: z.string(),
    "source-ip-address": z.string(),
    reason: z.enum(["PutObject", "CopyObject"]),
  }),
});
export type ObjectCreated = z.infer<typeof objectCreatedSchema>;

export interface Arrival {
  bucket: string;
  region: string;
  key: string;
  size: number;
  etag: string;
  versionId: string | undefined;
  sequence: number;
  requestId: string;
  sourceIp: string;
  reason: "PutObject" | "CopyObject";
  at: Date;
}

export function objectCreated(arrival: Arrival): ObjectCreated {
  const { bucket, key, size, etag, versionId } = arrival;
  const sequencer = arrival.sequence.toString(16).toUpperCase().padStart(16, "0");
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Object Created",
    source: "aws.s3",
    account: localAccount,
    // EventBridge uses whole seconds.
    time: `${arrival.at.toISOString().slice(0, 19)}Z`,
    region: arrival.region,
    resources: [`arn:aws:s3:::${bucket}`],
    detail: {
      version: "0",
      bucket: { name: bucket },
      object: { key, size, etag, ...(versionId === undefined ? {} : { "version-id": versionId }), sequencer },
      "request-id": arrival.requestId,
      requester: localAccount,
      "source-ip-address": arrival.sourceIp,
      reason: arrival.reason,
    },
  };
}
