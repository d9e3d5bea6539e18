import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { presigner } from "../../../../lambdas/aws/presigner.ts";
import { type S3Server, startS3 } from "../../../../local/s3/server.ts";
import { type CredentialStore, openCredentials } from "../../../../local/sts/store.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const shared = {
  bucket: "files",
  credentials: { accessKeyId: "ASIAEXAMPLE", secretAccessKey: "se/cr+et=", sessionToken: "to/k+en==" },
  validSeconds: 3600,
  now: new Date("2026-11-20T01:02:03.456Z"),
};

describe("addresses on AWS", () => {
  test.each([
    ["us-east-1", "false"],
    ["eu-central-1", "false"],
    ["cn-north-1", "false"],
    ["us-gov-west-1", "false"],
    ["us-gov-west-1", "true"],
    ["us-east-2", "true"],
  ])("lead to the host where the S3 client would look: %s, FIPS %s", async (region, fips) => {
    vi.stubEnv("AWS_REGION", region);
    vi.stubEnv("AWS_USE_FIPS_ENDPOINT", fips);
    const { config } = new S3Client({ region, useFipsEndpoint: fips === "true" });
    const asked = { Bucket: "files", Key: "key" };
    const { url } = await getEndpointFromInstructions(asked, GetObjectCommand, { ...config });
    const { origin } = new URL(await presigner(shared)({ method: "GET", key: "key" }));
    expect(origin).toBe(url.origin);
  });

  test("carry what S3 needs and nothing that would bind the body", async () => {
    vi.stubEnv("AWS_REGION", "us-east-1");
    const address = await presigner(shared)({ method: "PUT", key: "a b/ü~-._(1)", contentType: "text/plain" });
    const { pathname, searchParams } = new URL(address);
    expect(pathname).toBe("/a%20b/%C3%BC~-._%281%29");
    expect(Object.fromEntries(searchParams)).toEqual({
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD",
      "X-Amz-Credential": "ASIAEXAMPLE/20261120/us-east-1/s3/aws4_request",
      "X-Amz-Date": "20261120T010203Z",
      "X-Amz-Expires": "3600",
      "X-Amz-Security-Token": "to/k+en==",
      "X-Amz-SignedHeaders": "content-type;host",
      "X-Amz-Signature": expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});

describe("addresses that the embedded S3 checks", () => {
  const dir = mkdtempSync(join(tmpdir(), "presigner-"));
  let store: CredentialStore;
  let s3: S3Server;
  beforeAll(async () => {
    store = openCredentials({ dir });
    const buckets = [{ name: "files", versioned: false }];
    s3 = await startS3({ dir, region: "us-east-1", credentials: store, buckets, onObjectCreated: async () => {} });
  });
  afterAll(async () => {
    await s3.close();
    rmSync(dir, { recursive: true });
  });

  const presign = (validSeconds = 3600, now = new Date()) => {
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ENDPOINT_URL_S3", s3.endpoint);
    const roleArn = "arn:aws:iam::000000000000:role/files-signer";
    const credentials = store.issue({ roleArn, sessionName: "slipway-signer", durationSeconds: 3600 });
    return presigner({ bucket: "files", credentials, validSeconds, now });
  };
  const put = async (address: string, type: string, body = "bytes") =>
    (await fetch(address, { method: "PUT", headers: { "content-type": type }, body })).status;

  test.each(["org_1/sto_2/fil_3", "a b/ü~-._", "k (1)!'*", "x+y&z=%41"])(
    "store and give back the object named %j, with exactly its content type",
    async (key) => {
      const sign = presign();
      const upload = await sign({ method: "PUT", key, contentType: "text/plain; charset=utf-8" });
      expect(await put(upload, "text/html")).toBe(403);
      expect(await put(upload, "text/plain")).toBe(403);
      expect(await put(upload, "text/plain; charset=utf-8")).toBe(200);
      const stored = await fetch(await sign({ method: "GET", key }));
      expect([stored.status, stored.headers.get("content-type"), await stored.text()]).toEqual([
        200,
        "text/plain; charset=utf-8",
        "bytes",
      ]);
    },
  );

  test("a content type with inner and outer spaces is accepted as a client sends it", async () => {
    const address = await presign()({ method: "PUT", key: "spaces", contentType: "  text/x   y " });
    expect(await put(address, "text/x   y")).toBe(200);
  });

  test("a query parameter takes effect and cannot be changed", async () => {
    const sign = presign();
    expect(await put(await sign({ method: "PUT", key: "k", contentType: "text/plain" }), "text/plain")).toBe(200);
    const query = { "response-content-disposition": "attachment; filename=fil_3 (1)" };
    const address = await sign({ method: "GET", key: "k", query });
    expect((await fetch(address)).headers.get("content-disposition")).toBe("attachment; filename=fil_3 (1)");
    expect((await fetch(address.replace("fil_3", "fil_4"))).status).toBe(403);
  });

  test("an address is good for one method, one key and its time", async () => {
    const upload = await presign()({ method: "PUT", key: "one", contentType: "text/plain" });
    expect(await put(upload.replace("/one?", "/two?"), "text/plain")).toBe(403);
    expect((await fetch(upload)).status).toBe(403);
    const old = presign(60, new Date(Date.now() - 61_000));
    expect(await put(await old({ method: "PUT", key: "one", contentType: "text/plain" }), "text/plain")).toBe(403);
  });

  test("a hundred addresses of one presigner are all different and all good", async () => {
    const sign = presign();
    const keys = Array.from({ length: 100 }, (_, index) => `many/${index}`);
    const addresses = await Promise.all(keys.map((key) => sign({ method: "PUT", key, contentType: "text/plain" })));
    expect(new Set(addresses).size).toBe(100);
    const statuses = await Promise.all(addresses.map((address) => put(address, "text/plain")));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
