import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, startFixture } from "./fixture.ts";

let s3: Fixture;
beforeAll(async () => {
  s3 = await startFixture();
});
afterAll(() => s3.stop());

const Bucket = "archives";
const put = async (Key: string, Body: string) =>
  (await s3.client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId;
const text = async (Key: string, VersionId?: string) =>
  (await s3.client.send(new GetObjectCommand({ Bucket, Key, VersionId }))).Body?.transformToString();
const remove = (Key: string, VersionId?: string) => s3.client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
const versionsOf = async (Prefix: string) => {
  const list = await s3.client.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
  return { versions: list.Versions ?? [], markers: list.DeleteMarkers ?? [] };
};

describe("a versioned bucket", () => {
  it("keeps overwritten objects, which can be read by version", async () => {
    const first = await put("a", "one");
    const second = await put("a", "two");
    expect(first).not.toBe(second);
    expect(await text("a")).toBe("two");
    expect(await text("a", first)).toBe("one");
    expect((await s3.client.send(new HeadObjectCommand({ Bucket, Key: "a", VersionId: first }))).VersionId).toBe(first);
    const { versions } = await versionsOf("a");
    expect(versions.map((version) => [version.VersionId, version.IsLatest])).toEqual([
      [second, true],
      [first, false],
    ]);
  });

  it("hides a deleted object behind a marker and shows it again when the marker is deleted", async () => {
    const first = await put("b", "one");
    const deleted = await remove("b");
    expect(deleted.DeleteMarker).toBe(true);
    const marker = deleted.VersionId;
    await expect(text("b")).rejects.toMatchObject({ name: "NoSuchKey" });
    await expect(text("b", marker)).rejects.toMatchObject({ name: "MethodNotAllowed" });
    expect(await text("b", first)).toBe("one");
    const listed = await s3.client.send(new ListObjectsV2Command({ Bucket, Prefix: "b" }));
    expect(listed.KeyCount).toBe(0);
    const { versions, markers } = await versionsOf("b");
    expect(versions.map((version) => version.IsLatest)).toEqual([false]);
    expect(markers.map((version) => [version.VersionId, version.IsLatest])).toEqual([[marker, true]]);

    const undone = await remove("b", marker);
    expect(undone).toMatchObject({ DeleteMarker: true, VersionId: marker });
    expect(await text("b")).toBe("one");
  });

  it("shows the previous version if the latest is deleted permanently", async () => {
    const first = await put("c", "one");
    const second = await put("c", "two");
    await remove("c", second);
    await expect(text("c", second)).rejects.toMatchObject({ name: "NoSuchVersion" });
    expect(await text("c")).toBe("one");
    await remove("c", first);
    await expect(text("c")).rejects.toMatchObject({ name: "NoSuchKey" });
    expect(await versionsOf("c")).toEqual({ versions: [], markers: [] });
  });

  it("adds a delete marker for a key that never existed, and HEAD reports it", async () => {
    await remove("never");
    await expect(s3.client.send(new HeadObjectCommand({ Bucket, Key: "never" }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 404 },
      $response: { headers: { "x-amz-delete-marker": "true" } },
    });
  });

  it("copies the named version, also over the object itself", async () => {
    const first = await put("d", "one");
    await put("d", "two");
    const CopySource = `${Bucket}/d?versionId=${first}`;
    const copy = await s3.client.send(new CopyObjectCommand({ Bucket, Key: "d", CopySource }));
    expect(copy.CopySourceVersionId).toBe(first);
    expect(await text("d")).toBe("one");
    const { VersionId } = await remove("d");
    const ofMarker = { Bucket, Key: "e", CopySource: `${Bucket}/d?versionId=${VersionId}` };
    await expect(s3.client.send(new CopyObjectCommand(ofMarker))).rejects.toMatchObject({ name: "InvalidRequest" });
  });

  it("deletes many objects at once: versions permanently, the others with delete markers, and reports the invalid ones", async () => {
    const first = await put("e1", "one");
    await put("e2", "one");
    const Objects = [{ Key: "e1", VersionId: first }, { Key: "e2" }, { Key: "e3", VersionId: "not a version" }];
    const reply = await s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(reply.Deleted).toHaveLength(2);
    expect(reply.Deleted?.[0]).toEqual({ Key: "e1", VersionId: first });
    expect(reply.Deleted?.[1]).toMatchObject({ Key: "e2", DeleteMarker: true });
    expect(reply.Errors).toMatchObject([{ Key: "e3", Code: "InvalidArgument" }]);
    expect((await versionsOf("e1")).versions).toEqual([]);
    expect((await versionsOf("e2")).markers).toHaveLength(1);
  });
});

describe("a bucket without versions", () => {
  it("deletes permanently and has one version, called null", async () => {
    const plain = { Bucket: "plain", Key: "x" };
    await s3.client.send(new PutObjectCommand({ ...plain, Body: "1" }));
    const reply = await s3.client.send(new PutObjectCommand({ ...plain, Body: "2" }));
    expect(reply.VersionId).toBeUndefined();
    const list = await s3.client.send(new ListObjectVersionsCommand({ Bucket: "plain" }));
    expect(list.Versions?.map((version) => version.VersionId)).toEqual(["null"]);
    await s3.client.send(new DeleteObjectCommand(plain));
    expect((await s3.client.send(new ListObjectVersionsCommand({ Bucket: "plain" }))).Versions).toBeUndefined();
  });
});
