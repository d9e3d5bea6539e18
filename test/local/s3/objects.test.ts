import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { Readable } from "node:stream";
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientFor, type Fixture, region, startFixture } from "./fixture.ts";

let s3: Fixture;
beforeAll(async () => {
  s3 = await startFixture();
});
afterAll(() => s3.stop());

const Bucket = "plain";
const md5 = (content: string | Buffer) => createHash("md5").update(content).digest("hex");

describe("put and get with the SDK's default client", () => {
  it.each([
    ["a string", () => "héllo"],
    ["bytes", () => Buffer.from("héllo")],
    ["nothing", () => ""],
  ])("gives back %s byte for byte", async (_, body) => {
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "a", Body: body() }));
    const object = await s3.client.send(new GetObjectCommand({ Bucket, Key: "a" }));
    expect(await object.Body?.transformToString()).toBe(body().toString());
    expect(object.ETag).toBe(`"${md5(body())}"`);
    expect(object.ContentType).toBe("application/octet-stream");
  });

  it("stores a streamed upload without its chunk framing", async () => {
    const content = Buffer.alloc(300_000, "0123456789");
    const Body = Readable.from([content.subarray(0, 100_000), content.subarray(100_000)]);
    const put = await s3.client.send(new PutObjectCommand({ Bucket, Key: "s", Body, ContentLength: content.length }));
    expect(put.ChecksumCRC32).toBeDefined();
    const object = await s3.client.send(new GetObjectCommand({ Bucket, Key: "s" }));
    expect(Buffer.from((await object.Body?.transformToByteArray()) ?? "").equals(content)).toBe(true);
    expect(object.ChecksumCRC32).toBe(put.ChecksumCRC32);
    expect(object.ContentEncoding).toBeUndefined();
  });

  it.each(["CRC32", "SHA1", "SHA256"] as const)("verifies and stores a %s checksum", async (ChecksumAlgorithm) => {
    const put = await s3.client.send(new PutObjectCommand({ Bucket, Key: "c", Body: "x", ChecksumAlgorithm }));
    const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key: "c", ChecksumMode: "ENABLED" }));
    const name = `Checksum${ChecksumAlgorithm}` as const;
    expect(put[name]).toBeDefined();
    expect(head[name]).toBe(put[name]);
  });

  it("refuses a checksum that it cannot verify", async () => {
    const put = s3.client.send(
      new PutObjectCommand({ Bucket, Key: "c", Body: "x", ChecksumCRC64NVME: "AAAAAAAAAAA=" }),
    );
    await expect(put).rejects.toMatchObject({ name: "NotImplemented" });
  });

  it("keeps the headers and the metadata of an object", async () => {
    const described = {
      ContentType: "text/plain; charset=utf-8",
      ContentDisposition: 'attachment; filename="a b.txt"',
    };
    const Metadata = { author: "me", empty: "" };
    await s3.client.send(
      new PutObjectCommand({ Bucket, Key: "m", Body: "x", ContentEncoding: "gzip", Metadata, ...described }),
    );
    const head = await s3.client.send(new HeadObjectCommand({ Bucket, Key: "m" }));
    expect(head).toMatchObject({
      ...described,
      ContentEncoding: "gzip",
      Metadata,
      ContentLength: 1,
      AcceptRanges: "bytes",
    });
    expect(Math.abs((head.LastModified?.getTime() ?? 0) - s3.clock.now.getTime())).toBeLessThan(1000);
    expect(head.VersionId).toBeUndefined();
  });

  it("leaves only the newest bytes of an overwritten object on disk", async () => {
    const countFiles = () =>
      readdirSync(s3.dir, { recursive: true }).filter((name) => /[0-9a-f-]{36}$/.test(String(name))).length;
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "o", Body: "1" }));
    const before = countFiles();
    for (let i = 0; i < 5; i++) await s3.client.send(new PutObjectCommand({ Bucket, Key: "o", Body: `${i}` }));
    await expect.poll(countFiles).toBe(before);
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key: "o" }));
    await expect.poll(countFiles).toBe(before - 1);
  });

  it("sends the original bytes to the end while the object is overwritten and deleted", async () => {
    const first = Buffer.alloc(8_000_000, "a");
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "r", Body: first }));
    const object = await s3.client.send(new GetObjectCommand({ Bucket, Key: "r" }));
    await s3.client.send(new PutObjectCommand({ Bucket, Key: "r", Body: "b" }));
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key: "r" }));
    expect(md5(Buffer.from((await object.Body?.transformToByteArray()) ?? ""))).toBe(md5(first));
  });
});

describe("ranges", () => {
  beforeAll(() => s3.client.send(new PutObjectCommand({ Bucket, Key: "range", Body: "0123456789" })));
  const get = (Range: string) => s3.client.send(new GetObjectCommand({ Bucket, Key: "range", Range }));

  it.each([
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-2", "89", "bytes 8-9/10"],
    ["bytes=-20", "0123456789", "bytes 0-9/10"],
    ["bytes=5-500", "56789", "bytes 5-9/10"],
    ["bytes=4-2", "0123456789", undefined],
    ["lines=1-2", "0123456789", undefined],
  ])("answers %s", async (range, text, contentRange) => {
    const part = await get(range);
    expect(await part.Body?.transformToString()).toBe(text);
    expect(part.ContentRange).toBe(contentRange);
    expect(part.ContentLength).toBe(text.length);
  });

  it.each(["bytes=10-", "bytes=10-20", "bytes=-0"])("refuses %s of ten bytes", async (range) => {
    await expect(get(range)).rejects.toMatchObject({ name: "InvalidRange", $metadata: { httpStatusCode: 416 } });
  });
});

describe("keys", () => {
  it.each([
    "été/日本語/😀.zip",
    "//double//slash/",
    "../../../../etc/passwd",
    "a/../b",
    ".",
    "..",
    "%2e%2e%2f",
    "sp ace+plus&amp;<tag>'\"!*()",
    "nul\u0000byte\r\n",
    `${"x".repeat(1000)}/${"y".repeat(23)}`,
  ])("stores %j under exactly that name, inside its folder", async (Key) => {
    await s3.client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const object = await s3.client.send(new GetObjectCommand({ Bucket, Key }));
    expect(await object.Body?.transformToString()).toBe(Key);
    expect(s3.events.at(-1)?.detail.object.key).toBe(Key);
    await s3.client.send(
      new CopyObjectCommand({ Bucket, Key: "copy", CopySource: `${Bucket}/${encodeURIComponent(Key)}` }),
    );
    const deleted = await s3.client.send(
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }, { Key: "copy" }] } }),
    );
    expect(deleted.Errors).toBeUndefined();
    await expect(s3.client.send(new GetObjectCommand({ Bucket, Key }))).rejects.toMatchObject({ name: "NoSuchKey" });
    expect(readdirSync(s3.dir).sort()).toEqual(["credentials.json", "s3"]);
    expect(readdirSync(`${s3.dir}/s3`).filter((name) => !name.startsWith("index.sqlite"))).toEqual(["blobs"]);
  });

  it("refuses a key of more than 1024 bytes", async () => {
    const put = s3.client.send(new PutObjectCommand({ Bucket, Key: "é".repeat(513), Body: "x" }));
    await expect(put).rejects.toMatchObject({ name: "KeyTooLongError" });
  });
});

describe("copy", () => {
  beforeAll(async () => {
    const Metadata = { kept: "yes" };
    await s3.client.send(
      new PutObjectCommand({ Bucket, Key: "from", Body: "abc", ContentType: "image/png", Metadata }),
    );
  });

  it("keeps the content type and metadata, and is independent of its source", async () => {
    const copy = await s3.client.send(
      new CopyObjectCommand({ Bucket: "archives", Key: "to", CopySource: `/${Bucket}/from` }),
    );
    expect(copy.CopyObjectResult?.ETag).toBe(`"${md5("abc")}"`);
    expect(copy.VersionId).toBeDefined();
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key: "from" }));
    const object = await s3.client.send(new GetObjectCommand({ Bucket: "archives", Key: "to" }));
    expect(object).toMatchObject({ ContentType: "image/png", Metadata: { kept: "yes" } });
    expect(await object.Body?.transformToString()).toBe("abc");
  });

  it("replaces the headers on request", async () => {
    const CopySource = "archives/to";
    const input = {
      Bucket: "archives",
      Key: "to",
      CopySource,
      MetadataDirective: "REPLACE" as const,
      ContentType: "text/css",
    };
    await s3.client.send(new CopyObjectCommand(input));
    const head = await s3.client.send(new HeadObjectCommand({ Bucket: "archives", Key: "to" }));
    expect(head).toMatchObject({ ContentType: "text/css", Metadata: {} });
  });

  it.each([
    ["archives/to", "InvalidRequest"],
    ["archives/never", "NoSuchKey"],
    ["archives/to?versionId=never", "NoSuchVersion"],
    ["nobucket/to", "NoSuchBucket"],
    ["archives", "InvalidArgument"],
    ["archives/%zz", "InvalidURI"],
  ])("refuses to copy %s onto archives/to", async (CopySource, name) => {
    const copy = s3.client.send(new CopyObjectCommand({ Bucket: "archives", Key: "to", CopySource }));
    await expect(copy).rejects.toMatchObject({ name });
  });
});

describe("a missing object, version or bucket", () => {
  it("is reported with S3's error codes", async () => {
    const { client } = s3;
    await expect(client.send(new GetObjectCommand({ Bucket, Key: "no" }))).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: "no" }))).rejects.toMatchObject({ name: "NotFound" });
    await expect(client.send(new HeadBucketCommand({ Bucket: "no" }))).rejects.toMatchObject({ name: "NotFound" });
    await client.send(new HeadBucketCommand({ Bucket }));
    const put = client.send(new PutObjectCommand({ Bucket: "no", Key: "a", Body: "x" }));
    await expect(put).rejects.toMatchObject({ name: "NoSuchBucket" });
    await client.send(new DeleteObjectCommand({ Bucket, Key: "no" }));
  });
});

describe("callers", () => {
  it("are identified by their signature, with a session or without", async () => {
    const session = s3.credentials.issue({
      roleArn: "arn:aws:iam::000000000000:role/a",
      sessionName: "s",
      durationSeconds: 900,
    });
    const client = clientFor(s3.server.endpoint, session);
    await client.send(new PutObjectCommand({ Bucket, Key: "by-session", Body: "x" }));
    s3.credentials.revoke("s");
    const refused = client.send(new PutObjectCommand({ Bucket, Key: "by-session", Body: "x" }));
    await expect(refused).rejects.toMatchObject({ name: "InvalidToken" });
  });

  it.each([
    ["secret", "SignatureDoesNotMatch", { secretAccessKey: "wrong" }],
    ["key", "InvalidAccessKeyId", { accessKeyId: "AKIAWRONGWRONGWRONG1" }],
  ])("with a wrong %s are refused", async (_, name, wrong) => {
    const client = clientFor(s3.server.endpoint, { ...s3.credentials.root, ...wrong });
    const put = client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "x" }));
    await expect(put).rejects.toMatchObject({ name, $metadata: { httpStatusCode: 403 } });
  });

  it("that sign for another region are refused", async () => {
    const { endpoint } = s3.server;
    const client = new S3Client({
      endpoint,
      region: "eu-west-1",
      credentials: s3.credentials.root,
      forcePathStyle: true,
    });
    const head = client.send(new GetObjectCommand({ Bucket, Key: "k" }));
    expect(region).not.toBe("eu-west-1");
    await expect(head).rejects.toMatchObject({ name: "AuthorizationHeaderMalformed" });
  });

  it("that the bucket's policy does not allow are refused", async () => {
    const closed = await startFixture({ mayUse: (arn) => arn.endsWith(":root") });
    const session = closed.credentials.issue({
      roleArn: "arn:aws:iam::000000000000:role/app-task",
      sessionName: "t1",
      durationSeconds: 900,
    });
    const app = clientFor(closed.server.endpoint, session);
    const get = app.send(new GetObjectCommand({ Bucket, Key: "k" }));
    await expect(get).rejects.toMatchObject({ name: "AccessDenied", $metadata: { httpStatusCode: 403 } });
    await closed.client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "x" }));
    await closed.stop();
  });
});
