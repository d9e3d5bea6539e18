import { describe, expect, test } from "vitest";
import { isId } from "../../../../api/ids.ts";
import type { SeenObject } from "../../../../lambdas/aws/files.ts";
import {
  type FileEntry,
  fileReply,
  followed,
  newFileIds,
  newFiles,
  objectKey,
  objectOwner,
} from "../../../../lambdas/storage/model/files.ts";

const now = new Date("2026-11-20T01:02:03.456Z");

describe("the ids of one request's files", () => {
  test("are ids, and read backwards stand in the request's order", () => {
    const ids = newFileIds(100, now);
    expect(ids.every((id) => isId("fil", id))).toBe(true);
    expect(ids.toSorted().reverse()).toEqual(ids);
    expect(new Set([...ids, ...newFileIds(100, now)]).size).toBe(200);
  });

  test("stand before those of any earlier request", () => {
    const later = newFileIds(100, new Date(now.getTime() + 1));
    expect(newFileIds(100, now).every((id) => later.every((one) => one > id))).toBe(true);
  });
});

describe("an object's key", () => {
  const owner = {
    organizationId: `org_${"0".repeat(26)}`,
    storageId: `sto_${"1".repeat(26)}`,
    fileId: `fil_${"2".repeat(26)}`,
  };
  test("leads to its owner", () => {
    expect(objectOwner(objectKey(owner))).toEqual(owner);
  });

  test.each(["", "x", `${objectKey(owner)}/x`, `x/${objectKey(owner)}`, objectKey({ ...owner, fileId: "fil_x" })])(
    "of another form has none: %j",
    (key) => {
      expect(objectOwner(key)).toBeUndefined();
    },
  );
});

describe("an entry follows what is seen in S3", () => {
  const [pending] = newFiles("sto_1", [{ name: "a", mime: "text/plain" }], now) as [FileEntry];
  const seen: SeenObject = { size: 5, etag: '"e"', modifiedAt: "2026-11-20T01:02:09.000Z", version: "v1" };
  const later = new Date(now.getTime() + 60_000);
  const active = followed(pending, seen, later);

  test("to active with its size, and back to pending when it is gone", () => {
    expect(fileReply(active)).toEqual({
      ...fileReply(pending),
      size: 5,
      status: "active",
      updatedAt: later.toISOString(),
    });
    const gone = followed(active, undefined, later);
    expect(gone).toMatchObject({ size: 0, status: "pending" });
    expect(gone).not.toHaveProperty("object");
  });

  test("not at all when nothing is new", () => {
    expect(followed(pending, undefined, later)).toBe(pending);
    expect(followed(active, { ...seen }, later)).toBe(active);
  });

  test.each([{ etag: '"f"' }, { modifiedAt: "2026-11-20T01:02:10.000Z" }, { version: "v2" }])(
    "when another object stands there: %j",
    (change) => {
      const again = followed(active, { ...seen, size: 9, ...change }, new Date(later.getTime() + 1));
      expect(again).toMatchObject({ size: 9, status: "active", createdAt: pending.createdAt });
      expect(again.updatedAt > active.updatedAt).toBe(true);
    },
  );

  test("without ever turning updatedAt back", () => {
    expect(followed(active, undefined, now).updatedAt).toBe(active.updatedAt);
  });
});
