import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GetObjectCommand, ListObjectVersionsCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { openCredentials } from "../../../local/sts/store.ts";
import { clientFor, presign, raw, until } from "./fixture.ts";

/** SLIPWAY_TESTS=all kills more often, after more uploads each time. */
const rounds = process.env.SLIPWAY_TESTS === "all" ? 3 : 1;
const started = z.object({ endpoint: z.string() });
let dir: string;
let child: ChildProcess | undefined;

async function start(mode = "listening"): Promise<string> {
  const process = fork(join(import.meta.dirname, "server-process.ts"), [dir, mode], { silent: true });
  child = process;
  let errors = "";
  process.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    process.once("message", (message) => resolve(started.parse(message).endpoint));
    process.once("close", (code) => reject(new Error(`the server ended with ${code}: ${errors}`)));
  });
}

async function kill(): Promise<void> {
  const process = child;
  child = undefined;
  if (!process || process.exitCode !== null) return;
  const gone = new Promise((resolve) => process.once("exit", resolve));
  process.kill("SIGKILL");
  await gone;
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "s3-crash-"));
});
afterEach(async () => {
  await kill();
  rmSync(dir, { recursive: true });
});

const blobFiles = () =>
  readdirSync(join(dir, "s3", "blobs"), { recursive: true }).filter((name) => String(name).length > 3).length;
const eventKeys = () => {
  const path = join(dir, "events.jsonl");
  const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  return lines.map((line) => JSON.parse(line).detail.object.key);
};

async function versionIds(client: S3Client): Promise<(string | undefined)[]> {
  const list = await client.send(new ListObjectVersionsCommand({ Bucket: "archives" }));
  return (list.Versions ?? []).map((version) => version.VersionId);
}

describe("after a SIGKILL", () => {
  it("an unfinished upload leaves nothing, the earlier object is complete, its event is delivered, and a signed address is still valid", async () => {
    const credentials = openCredentials({ dir });
    const endpoint = await start("deaf");
    let client = clientFor(endpoint, credentials.root);
    const first = await client.send(new PutObjectCommand({ Bucket: "archives", Key: "a", Body: "whole" }));
    const signing = { server: { endpoint }, credentials, clock: { now: new Date() } };
    const late = await presign(signing, { method: "PUT", path: "/archives/late", contentType: "application/zip" });
    const url = await presign(signing, { method: "PUT", path: "/archives/a" });
    const outgoing = httpRequest(url, { method: "PUT", headers: { "content-length": 10_000_000 } });
    outgoing.on("error", () => {});
    outgoing.write(Buffer.alloc(5_000_000));
    await until(() => blobFiles() === 2, "the second upload begins");
    await kill();
    expect(blobFiles()).toBe(2);
    expect(eventKeys()).toEqual([]);

    const restarted = await start();
    client = clientFor(restarted, credentials.root);
    expect(blobFiles()).toBe(1);
    expect(await versionIds(client)).toEqual([first.VersionId]);
    const object = await client.send(new GetObjectCommand({ Bucket: "archives", Key: "a" }));
    expect(await object.Body?.transformToString()).toBe("whole");
    await until(() => eventKeys().length === 1, "the event");
    // After the restart in this test the port differs; the signature covers the original host.
    const target = new URL(late);
    const headers = { host: target.host, "content-type": "application/zip", "content-length": "1" };
    const reply = await raw(`${restarted}${target.pathname}${target.search}`, { method: "PUT", headers, body: "x" });
    expect(reply.status).toBe(200);

    // A second server on the same folder is refused while the first one runs.
    const running = child;
    await expect(start()).rejects.toThrow(/ended with 1: .*database is locked/s);
    child = running;
  });

  it("every answered upload exists and its event arrives, at any moment of the kill", async () => {
    const { root } = openCredentials({ dir });
    const answered: (string | undefined)[] = [];
    for (let round = 0; round < rounds; round++) {
      const client = clientFor(await start(), root);
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let i = 0; ; i++) {
          const Key = `${round}/${writer}/${i}`;
          await client.send(new PutObjectCommand({ Bucket: "archives", Key, Body: Key.repeat(2000) }));
          answered.push(Key);
        }
      });
      const ended = Promise.allSettled(writers);
      const goal = answered.length + 20 + round * 13;
      await until(() => answered.length >= goal, "some uploads");
      await kill();
      await ended;
      client.destroy();
    }
    const client = clientFor(await start(), root);
    const list = await client.send(new ListObjectVersionsCommand({ Bucket: "archives" }));
    const keys = (list.Versions ?? []).map((version) => version.Key ?? "");
    expect(keys).toEqual(expect.arrayContaining(answered));
    for (const Key of keys) {
      const object = await client.send(new GetObjectCommand({ Bucket: "archives", Key }));
      expect(await object.Body?.transformToString()).toBe(Key.repeat(2000));
    }
    expect(blobFiles()).toBe(keys.length);
    await until(() => new Set(eventKeys()).size === keys.length, "every event");
    expect([...new Set(eventKeys())].sort()).toEqual([...keys].sort());
  });
});
