import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DeleteObjectCommand, ListObjectVersionsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SignatureV4 } from "@smithy/signature-v4";
import { expect, it, onTestFinished, vi } from "vitest";
import { startS3 } from "../../local/s3/server.ts";
import { openCredentials } from "../../local/sts/store.ts";
import { emptyBucket } from "../../scripts/aws/empty-bucket.ts";
import { deleteRepositories, projectRepositories } from "../../scripts/aws/repositories.ts";
import { signedHeaders } from "../../scripts/aws/signed-call.ts";

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

it.each(["servicequotas", "ecr"])("a call to %s is signed as the SDK's own signer would sign it", async (service) => {
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token" };
  const now = new Date("2026-11-21T01:02:03.456Z");
  const region = "eu-west-1";
  const call = {
    service,
    target: "Target.Operation",
    url: new URL(`https://${service}.aws.example/`),
    input: { a: 1 },
  };
  const { authorization, ...headers } = signedHeaders(call, { region, credentials, now });
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false });
  const { "x-amz-date": _, "x-amz-security-token": __, ...unsigned } = headers;
  const host = { protocol: "https:", hostname: headers.host ?? "", path: "/", query: {} };
  const request = { method: "POST", ...host, headers: unsigned, body: '{"a":1}' };
  const signed = await signer.sign(request, { signingDate: now });
  expect(authorization).toBe(signed.headers.authorization);
});

/** A registry that gives two repositories at a time. */
async function startRegistry(names: string[]) {
  const server = createServer(async (request, response) => {
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const { nextToken = "0", repositoryName, force } = JSON.parse(await text(request));
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (operation === "DescribeRepositories") {
      const from = Number(nextToken);
      const repositories = names.slice(from, from + 2).map((name) => ({ repositoryName: name }));
      return answer(200, { repositories, ...(from + 2 < names.length && { nextToken: String(from + 2) }) });
    }
    const at = names.indexOf(repositoryName);
    if (repositoryName.endsWith("denied")) return answer(400, { __type: "AccessDeniedException" });
    if (at < 0) return answer(400, { __type: "com.amazonaws.ecr#RepositoryNotFoundException" });
    if (force !== true) return answer(400, { __type: "RepositoryNotEmptyException" });
    names.splice(at, 1);
    return answer(200, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ENDPOINT_URL_ECR", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
}

const account = { region: "us-east-1", credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" } };
const project = (letter: string) => `prj_${letter.repeat(26)}`;

it("a teardown deletes the images of the stack's projects, and of nothing else in the account", async () => {
  const others = [
    "web",
    "slipway",
    `another/${project("a")}`,
    `slipway-two/${project("a")}`,
    "slipway/tools",
    `team/slipway/${project("a")}`,
  ];
  const own = [`slipway/${project("a")}`, `slipway/${project("b")}`];
  const names = [...others.slice(0, 2), own[0] ?? "", ...others.slice(2), own[1] ?? ""];
  await startRegistry(names);
  const found = await projectRepositories("slipway", account);
  expect(found).toEqual(own);
  await deleteRepositories(found, account);
  expect(names).toEqual(others);
});

it("a teardown that is run again finds repositories gone, and one that may not delete says so", async () => {
  await startRegistry([]);
  await deleteRepositories([`slipway/${project("a")}`], account);
  await expect(deleteRepositories(["slipway/denied"], account)).rejects.toThrow(
    "ECR answered DeleteRepository with AccessDeniedException. Mend it, then run this again.",
  );
});
