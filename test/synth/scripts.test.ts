import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeleteObjectCommand, ListObjectVersionsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, it } from "vitest";
import { startS3 } from "../../local/s3/server.ts";
import { openCredentials } from "../../local/sts/credentials.ts";
import { signedHeaders } from "../../scripts/aws/build-quota.ts";
import { emptyBucket } from "../../scripts/aws/empty-bucket.ts";

it("a bucket is emptied of every version and every delete marker", async () => {
  const dir = mkdtempSync(join(tmpdir(), "slipway-teardown-"));
  const credentials = openCredentials({ dir, now: () => new Date() });
  const buckets = [{ name: "files", versioned: true }];
  const server = await startS3({ dir, region: "us-east-1", credentials, buckets, onObjectCreated: async () => {} });
  const options = { endpoint: server.endpoint, region: "us-east-1", forcePathStyle: true };
  const s3 = new S3Client({ ...options, credentials: { ...credentials.root } });
  try {
    const Bucket = "files";
    for (const Key of ["a", "a", "b/c", "b/d", "ü"]) await s3.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key: "a" }));
    expect(await emptyBucket(s3, Bucket)).toBe(6);
    const left = await s3.send(new ListObjectVersionsCommand({ Bucket }));
    expect([left.Versions ?? [], left.DeleteMarkers ?? []]).toEqual([[], []]);
    expect(await emptyBucket(s3, Bucket)).toBe(0);
  } finally {
    s3.destroy();
    await server.close();
    rmSync(dir, { recursive: true });
  }
});

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key =
      typeof secret === "string" || secret === undefined ? secret : Buffer.from(new Uint8Array(bytes(secret)));
    this.#hash = key === undefined ? createHash("sha256") : createHmac("sha256", key);
  }
  update(data: string | ArrayBuffer | ArrayBufferView) {
    this.#hash.update(typeof data === "string" ? data : Buffer.from(new Uint8Array(bytes(data))));
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset() {}
}

function bytes(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

it("the call to Service Quotas is signed as the SDK's own signer would sign it", async () => {
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token" };
  const now = new Date("2026-11-21T01:02:03.456Z");
  const { authorization, ...headers } = signedHeaders("Target.Operation", "{}", {
    region: "eu-west-1",
    credentials,
    now,
  });
  const signer = new SignatureV4({
    service: "servicequotas",
    region: "eu-west-1",
    credentials,
    sha256: Sha256,
    applyChecksum: false,
  });
  const { "x-amz-date": _, "x-amz-security-token": __, ...unsigned } = headers;
  const host = { protocol: "https:", hostname: headers.host ?? "", path: "/", query: {} };
  const signed = await signer.sign({ method: "POST", ...host, headers: unsigned, body: "{}" }, { signingDate: now });
  expect(authorization).toBe(signed.headers.authorization);
});
