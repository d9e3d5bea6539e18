import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Fixture, presign, type RawReply, raw, startFixture } from "./fixture.ts";

let s3: Fixture;
beforeAll(async () => {
  s3 = await startFixture();
});
afterAll(() => s3.stop());

/** Of the text "hello". */
const tag = '"5d41402abc4b2a76b9719d911017c592"';
let now: Date;
beforeEach(async () => {
  now = s3.clock.now;
  await s3.client.send(new PutObjectCommand({ Bucket: "plain", Key: "read", Body: "hello" }));
});

/** GET and HEAD of an object written at `now`; the dates of conditions are relative to it. */
async function read(method: "GET" | "HEAD", headers: Record<string, string>): Promise<RawReply> {
  return raw(await presign(s3, { method, path: "/plain/read" }), { method, headers });
}
const since = (seconds: number) => new Date(Math.floor(now.getTime() / 1000) * 1000 + seconds * 1000).toUTCString();

describe.each(["GET", "HEAD"] as const)("a conditional %s", (method) => {
  it.each<[string, () => Record<string, string>, number]>([
    ["If-None-Match of its tag", () => ({ "if-none-match": tag }), 304],
    ["If-None-Match of its tag, weakly", () => ({ "if-none-match": `"other", W/${tag}` }), 304],
    ["If-None-Match *", () => ({ "if-none-match": "*" }), 304],
    ["If-None-Match of another tag", () => ({ "if-none-match": '"other"' }), 200],
    ["If-Match of its tag", () => ({ "if-match": tag }), 200],
    ["If-Match *", () => ({ "if-match": "*" }), 200],
    ["If-Match of another tag", () => ({ "if-match": '"other"' }), 412],
    ["If-Modified-Since its time", () => ({ "if-modified-since": since(0) }), 304],
    ["If-Modified-Since later", () => ({ "if-modified-since": since(1) }), 304],
    ["If-Modified-Since earlier", () => ({ "if-modified-since": since(-1) }), 200],
    ["If-Modified-Since no date", () => ({ "if-modified-since": "yesterday" }), 200],
    ["If-Unmodified-Since its time", () => ({ "if-unmodified-since": since(0) }), 200],
    ["If-Unmodified-Since earlier", () => ({ "if-unmodified-since": since(-1) }), 412],
    [
      "a tag that matches before a date that does not",
      () => ({ "if-match": tag, "if-unmodified-since": since(-1) }),
      200,
    ],
    [
      "a tag that differs before a date that says unmodified",
      () => ({ "if-none-match": '"other"', "if-modified-since": since(1) }),
      200,
    ],
    ["If-Match and If-None-Match of its tag", () => ({ "if-match": tag, "if-none-match": tag }), 304],
  ])("with %s", async (_, headers, status) => {
    const reply = await read(method, headers());
    expect(reply.status).toBe(status);
    if (status === 412) return;
    expect(reply.headers.etag).toBe(tag);
    expect(reply.headers["last-modified"]).toBe(since(0));
    expect(reply.text).toBe(method === "GET" && status === 200 ? "hello" : "");
    if (status === 304) expect(reply.headers["content-length"]).toBeUndefined();
  });
});

it("a 412 names the condition, and a connection can be used again after a 304", async () => {
  expect((await read("GET", { "if-match": '"other"' })).text).toContain("<Condition>If-Match</Condition>");
  const conditional = new GetObjectCommand({ Bucket: "plain", Key: "read", IfNoneMatch: tag });
  for (let round = 0; round < 3; round += 1) {
    await expect(s3.client.send(conditional)).rejects.toMatchObject({ $metadata: { httpStatusCode: 304 } });
  }
  expect((await s3.client.send(new HeadObjectCommand({ Bucket: "plain", Key: "read" }))).ContentLength).toBe(5);
});

it.each<[string, () => string, string]>([
  ["its tag", () => tag, "el"],
  ["another tag", () => '"other"', "hello"],
  ["its time", () => since(0), "el"],
  ["another time", () => since(-1), "hello"],
])("If-Range of %s decides between a part and the whole", async (_, value, text) => {
  expect((await read("GET", { range: "bytes=1-2", "if-range": value() })).text).toBe(text);
});

describe("DELETE with If-Match", () => {
  const remove = (Bucket: string, Key: string, more: object) =>
    s3.client.send(new DeleteObjectCommand({ Bucket, Key, ...more }));
  const exists = (Bucket: string, Key: string) =>
    s3.client.send(new HeadObjectCommand({ Bucket, Key })).then(
      () => true,
      () => false,
    );

  it.each(["plain", "archives"])("in %s deletes only the object with this ETag", async (Bucket) => {
    for (const IfMatch of [tag, "*"]) {
      await s3.client.send(new PutObjectCommand({ Bucket, Key: "gone", Body: "hello" }));
      await expect(remove(Bucket, "gone", { IfMatch: '"other"' })).rejects.toMatchObject({
        name: "PreconditionFailed",
      });
      expect(await exists(Bucket, "gone")).toBe(true);
      await remove(Bucket, "gone", { IfMatch });
      expect(await exists(Bucket, "gone")).toBe(false);
      for (const condition of [tag, "*"]) {
        const again = remove(Bucket, "gone", { IfMatch: condition });
        await expect(again).rejects.toMatchObject({ name: "NoSuchKey", $metadata: { httpStatusCode: 404 } });
      }
    }
  });

  it("refuses a condition together with a version", async () => {
    const { VersionId } = await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "v", Body: "hello" }));
    await expect(remove("archives", "v", { VersionId, IfMatch: tag })).rejects.toMatchObject({
      name: "NotImplemented",
    });
    expect(await exists("archives", "v")).toBe(true);
  });

  it("checks the condition of each object in DeleteObjects separately", async () => {
    for (const Key of ["a", "b", "c"]) {
      await s3.client.send(new PutObjectCommand({ Bucket: "plain", Key, Body: "hello" }));
    }
    const Objects = [{ Key: "a", ETag: tag }, { Key: "b", ETag: '"other"' }, { Key: "none", ETag: tag }, { Key: "c" }];
    const answer = await s3.client.send(new DeleteObjectsCommand({ Bucket: "plain", Delete: { Objects } }));
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(["a", "c"]);
    expect(answer.Errors?.map(({ Key, Code }) => [Key, Code])).toEqual([
      ["b", "PreconditionFailed"],
      ["none", "NoSuchKey"],
    ]);
    expect(await exists("plain", "b")).toBe(true);
  });
});

describe("an unsupported header that would change what is stored", () => {
  const put = (more: object) =>
    s3.client.send(new PutObjectCommand({ Bucket: "plain", Key: "kept", Body: "new", ...more }));

  it.each<[string, object, string]>([
    ["an ACL", { ACL: "public-read" }, "AccessControlListNotSupported"],
    ["a grant", { GrantRead: 'id="1"' }, "AccessControlListNotSupported"],
    ["encryption by S3", { ServerSideEncryption: "AES256" }, "NotImplemented"],
    ["encryption by KMS", { ServerSideEncryption: "aws:kms", SSEKMSKeyId: "k" }, "NotImplemented"],
    ["a key of the customer", { SSECustomerAlgorithm: "AES256", SSECustomerKey: "k" }, "NotImplemented"],
    ["another storage class", { StorageClass: "GLACIER" }, "NotImplemented"],
    ["tags", { Tagging: "a=b" }, "NotImplemented"],
    ["an object lock", { ObjectLockMode: "GOVERNANCE", ObjectLockRetainUntilDate: new Date() }, "NotImplemented"],
    ["a legal hold", { ObjectLockLegalHoldStatus: "ON" }, "NotImplemented"],
    ["a redirect", { WebsiteRedirectLocation: "/elsewhere" }, "NotImplemented"],
    ["a requester who pays", { RequestPayer: "requester" }, "NotImplemented"],
    ["an offset", { WriteOffsetBytes: 5 }, "NotImplemented"],
    ["another owner of the bucket", { ExpectedBucketOwner: "111111111111" }, "AccessDenied"],
    ["a condition", { IfNoneMatch: "*" }, "NotImplemented"],
  ])("%s is refused, and nothing is stored", async (_, more, name) => {
    await expect(put(more)).rejects.toMatchObject({ name });
    const head = s3.client.send(new HeadObjectCommand({ Bucket: "plain", Key: "kept" }));
    await expect(head).rejects.toMatchObject({ name: "NotFound" });
  });

  it("is refused in a presigned address as well", async () => {
    const url = await presign(s3, { method: "PUT", path: "/plain/kept", query: { "X-Amz-Tagging": "a=b" } });
    const reply = await raw(url, { method: "PUT", body: "new" });
    expect([reply.status, reply.text.includes("<Header>x-amz-tagging</Header>")]).toEqual([501, true]);
  });

  it("is accepted with the value that changes nothing", async () => {
    const more = { ACL: "bucket-owner-full-control", StorageClass: "STANDARD", ExpectedBucketOwner: "000000000000" };
    await s3.client.send(new PutObjectCommand({ Bucket: "plain", Key: "taken", Body: "x", ...more } as never));
    expect((await s3.client.send(new HeadObjectCommand({ Bucket: "plain", Key: "taken" }))).ContentLength).toBe(1);
  });

  it("is refused on DELETE, where the condition would be ignored", async () => {
    const mfa = new DeleteObjectCommand({ Bucket: "plain", Key: "read", MFA: "1 2" });
    await expect(s3.client.send(mfa)).rejects.toMatchObject({ name: "NotImplemented" });
    const sized = new DeleteObjectCommand({ Bucket: "plain", Key: "read", IfMatchSize: 99 });
    await expect(s3.client.send(sized)).rejects.toMatchObject({ name: "NotImplemented" });
    expect((await s3.client.send(new HeadObjectCommand({ Bucket: "plain", Key: "read" }))).ContentLength).toBe(5);
  });
});
