import { CopyObjectCommand, DeleteObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { startS3 } from "../../../local/s3/server.ts";
import type { ObjectCreated } from "../../../local/s3/store/object-created.ts";
import { buckets, region, startFixture, until } from "./fixture.ts";

describe("a port that is in use", () => {
  it("fails the start, and does not keep the folder locked", async () => {
    const s3 = await startFixture();
    const options = {
      dir: `${s3.dir}/other`,
      credentials: s3.credentials,
      region,
      buckets,
      onObjectCreated: async () => {},
    };
    await expect(startS3({ ...options, port: s3.server.port })).rejects.toThrow("EADDRINUSE");
    await (await startS3(options)).close();
    await s3.stop();
  });
});

describe("object events", () => {
  it("have the form of EventBridge and follow an upload at once", async () => {
    const s3 = await startFixture();
    const put = await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "a b/é", Body: "hello" }));
    const event = await until(() => s3.events[0], "the event");
    expect(event).toEqual({
      version: "0",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      "detail-type": "Object Created",
      source: "aws.s3",
      account: "000000000000",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      region,
      resources: ["arn:aws:s3:::archives"],
      detail: {
        version: "0",
        bucket: { name: "archives" },
        object: {
          key: "a b/é",
          size: 5,
          etag: put.ETag?.replaceAll('"', ""),
          "version-id": put.VersionId,
          sequencer: expect.stringMatching(/^[0-9A-F]{16}$/),
        },
        "request-id": put.$metadata.requestId,
        requester: "000000000000",
        "source-ip-address": "127.0.0.1",
        reason: "PutObject",
      },
    });
    await s3.client.send(new CopyObjectCommand({ Bucket: "plain", Key: "c", CopySource: "archives/a%20b/%C3%A9" }));
    await s3.client.send(new DeleteObjectCommand({ Bucket: "plain", Key: "c" }));
    const copied = await until(() => s3.events[1], "the second event");
    expect(copied.detail).toMatchObject({ reason: "CopyObject", bucket: { name: "plain" } });
    expect(copied.detail.object).not.toHaveProperty("version-id");
    expect(copied.detail.object.sequencer > event.detail.object.sequencer).toBe(true);
    expect(s3.events).toHaveLength(2);
    await s3.stop();
  });

  it("are sent again until they are accepted, and never delay the upload", async () => {
    const attempts: string[] = [];
    const errors: unknown[] = [];
    const onObjectCreated = async (event: ObjectCreated) => {
      attempts.push(event.id);
      if (attempts.length < 3) throw new Error("not now");
    };
    const s3 = await startFixture({ onObjectCreated, onError: (error) => errors.push(error) });
    await s3.client.send(new PutObjectCommand({ Bucket: "plain", Key: "a", Body: "x" }));
    await until(() => attempts.length === 3, "three attempts");
    expect(new Set(attempts).size).toBe(1);
    expect(errors).toHaveLength(2);
    await s3.stop();
  });

  it("are delivered after a restart only if they were not delivered before", async () => {
    const taken: string[] = [];
    const s3 = await startFixture({
      onObjectCreated: async ({ detail }) => {
        if (detail.object.key === "lost") return new Promise(() => {});
        if (detail.object.key === "refused") throw new Error("no");
        taken.push(detail.object.key);
      },
    });
    for (const Key of ["taken", "lost", "refused"]) {
      await s3.client.send(new PutObjectCommand({ Bucket: "plain", Key, Body: "x" }));
    }
    await until(() => taken.length === 1, "one is taken");
    await s3.server.close();
    const after: string[] = [];
    const restarted = await startS3({
      dir: `${s3.dir}/s3`,
      credentials: s3.credentials,
      region,
      buckets,
      onObjectCreated: async ({ detail }) => void after.push(detail.object.key),
    });
    await until(() => after.length === 2, "the two others");
    await restarted.close();
    expect(after.sort()).toEqual(["lost", "refused"]);
    await s3.stop();
  });
});

describe("under cloud", () => {
  it("each event is delivered twice, late, and is removed after the last delivery", async () => {
    const s3 = await startFixture({ behavior: { deliveriesMs: () => [400, 430] } });
    const began = performance.now();
    await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "twice", Body: "x" }));
    await until(() => s3.events[0], "the first delivery");
    expect(performance.now() - began).toBeGreaterThanOrEqual(399);
    const again = await until(() => s3.events[1], "the second delivery");
    expect(again).toEqual(s3.events[0]);
    await s3.stop();
  });
});
