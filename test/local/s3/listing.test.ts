import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, startFixture } from "./fixture.ts";

let s3: Fixture;
const Bucket = "archives";
const keys = ["a", "a/1", "a/2", "a/b/3", "a0", "b/x", "é", "日本", "😀", "zz", "\uffee"];
/** S3 sorts keys by their UTF-8 bytes, which differs from JavaScript's order of UTF-16 units. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const ordered = [...keys].sort(byBytes);

beforeAll(async () => {
  s3 = await startFixture();
  for (const Key of keys) await s3.client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  await s3.client.send(new PutObjectCommand({ Bucket, Key: "gone", Body: "x" }));
  await s3.client.send(new DeleteObjectCommand({ Bucket, Key: "gone" }));
});
afterAll(() => s3.stop());

describe("ListObjectsV2", () => {
  it("orders keys by their bytes and does not list deleted objects", async () => {
    const list = await s3.client.send(new ListObjectsV2Command({ Bucket }));
    expect(list.Contents?.map((object) => object.Key)).toEqual(ordered);
    expect(list.Contents?.[1]).toMatchObject({ Key: "a/1", Size: 3, ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/) });
    expect(list.IsTruncated).toBe(false);
  });

  it.each([1, 2, 3, 11])("lists every key once in pages of %i", async (MaxKeys) => {
    const seen: (string | undefined)[] = [];
    for await (const page of paginateListObjectsV2({ client: s3.client }, { Bucket, MaxKeys })) {
      expect(page.KeyCount).toBeLessThanOrEqual(MaxKeys);
      seen.push(...(page.Contents ?? []).map((object) => object.Key));
    }
    expect(seen).toEqual(ordered);
  });

  it("groups keys by their prefix up to the delimiter, across pages", async () => {
    for (const MaxKeys of [1, 2, 1000]) {
      const found: string[] = [];
      for await (const page of paginateListObjectsV2(
        { client: s3.client },
        { Bucket, Delimiter: "/", Prefix: "a", MaxKeys },
      )) {
        found.push(...(page.CommonPrefixes ?? []).map((group) => group.Prefix ?? ""));
        found.push(...(page.Contents ?? []).map((object) => object.Key ?? ""));
      }
      expect(found.sort(byBytes)).toEqual(["a", "a/", "a0"]);
    }
    const inside = await s3.client.send(new ListObjectsV2Command({ Bucket, Delimiter: "/", Prefix: "a/" }));
    expect(inside.Contents?.map((object) => object.Key)).toEqual(["a/1", "a/2"]);
    expect(inside.CommonPrefixes).toEqual([{ Prefix: "a/b/" }]);
  });

  it("starts after a key, and encodes keys on request", async () => {
    const list = await s3.client.send(new ListObjectsV2Command({ Bucket, StartAfter: "zz", EncodingType: "url" }));
    expect(list.Contents?.map((object) => decodeURIComponent(object.Key ?? ""))).toEqual(
      ordered.slice(ordered.indexOf("zz") + 1),
    );
    expect(list.Contents?.[0]?.Key).toBe("%C3%A9");
  });

  it.each([{ ContinuationToken: "made up" }, { MaxKeys: -1 }])("refuses %j", async (bad) => {
    await expect(s3.client.send(new ListObjectsV2Command({ Bucket, ...bad }))).rejects.toMatchObject({
      name: "InvalidArgument",
    });
  });
});

describe("ListObjectVersions", () => {
  it("lists every version and delete marker in pages, newest first", async () => {
    for (const Body of ["1", "2", "3"]) await s3.client.send(new PutObjectCommand({ Bucket, Key: "gone", Body }));
    const sizes: string[] = [];
    let markers: { KeyMarker?: string; VersionIdMarker?: string } | undefined = {};
    while (markers) {
      const page: Awaited<ReturnType<typeof list>> = await list(markers);
      for (const version of page.Versions ?? []) sizes.push(`${version.VersionId} ${version.IsLatest}`);
      for (const marker of page.DeleteMarkers ?? []) sizes.push(`${marker.VersionId} ${marker.IsLatest}`);
      markers = page.IsTruncated
        ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
        : undefined;
    }
    expect(sizes).toHaveLength(5);
    expect(new Set(sizes).size).toBe(5);
    expect(sizes.map((line) => line.endsWith("true"))).toEqual([true, false, false, false, false]);
  });
  const list = (markers: object) =>
    s3.client.send(new ListObjectVersionsCommand({ Bucket, Prefix: "gone", MaxKeys: 2, ...markers }));

  it("groups by delimiter across pages", async () => {
    const found: string[] = [];
    let KeyMarker: string | undefined = "";
    while (KeyMarker !== undefined) {
      const input: ListObjectVersionsCommand = new ListObjectVersionsCommand({
        Bucket,
        Delimiter: "/",
        MaxKeys: 1,
        KeyMarker,
      });
      const page = await s3.client.send(input);
      found.push(...(page.CommonPrefixes ?? []).map((group) => group.Prefix ?? ""));
      KeyMarker = page.IsTruncated ? page.NextKeyMarker : undefined;
    }
    expect(found).toEqual(["a/", "b/"]);
  });
});
