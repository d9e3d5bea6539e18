import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { get, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { type CredentialStore, openCredentials } from "../../../local/sts/store.ts";
import { clientFor, presign } from "./fixture.ts";

const megabyte = Buffer.alloc(1024 * 1024, "0123456789abcdef");
const megabytes = 300;
const dir = mkdtempSync(join(tmpdir(), "s3-stream-"));
let child: ChildProcess;
let endpoint: string;
let credentials: CredentialStore;

const nextMessage = <T extends z.ZodType>(schema: T) =>
  new Promise<z.infer<T>>((resolve) => child.once("message", (message) => resolve(schema.parse(message))));

async function rssMegabytes(): Promise<number> {
  const answer = nextMessage(z.object({ rss: z.number() }));
  child.send("rss");
  return (await answer).rss / 2 ** 20;
}

beforeAll(async () => {
  credentials = openCredentials({ dir });
  child = fork(join(import.meta.dirname, "server-process.ts"), [dir]);
  endpoint = (await nextMessage(z.object({ endpoint: z.string() }))).endpoint;
});
afterAll(() => {
  child.kill("SIGKILL");
  rmSync(dir, { recursive: true });
});

function* body(): Generator<Buffer> {
  for (let i = 0; i < megabytes; i++) yield megabyte;
}

/** Runs a transfer and returns the largest growth of the server's memory. */
async function growthDuring(transfer: () => Promise<unknown>): Promise<number> {
  const before = await rssMegabytes();
  let peak = before;
  let isRunning = true;
  const watch = (async () => {
    while (isRunning) {
      peak = Math.max(peak, await rssMegabytes());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  await transfer();
  isRunning = false;
  await watch;
  return peak - before;
}

describe("an object of 300 MB", () => {
  const sign = (method: string) =>
    presign({ server: { endpoint }, credentials, clock: { now: new Date() } }, { method, path: "/archives/big" });

  it("is stored without being held in memory", async () => {
    const url = await sign("PUT");
    const headers = { "content-length": megabytes * megabyte.length };
    const growth = await growthDuring(async () => {
      const outgoing = httpRequest(url, { method: "PUT", headers });
      const status = new Promise((resolve) => outgoing.on("response", (response) => resolve(response.statusCode)));
      await pipeline(Readable.from(body()), outgoing);
      expect(await status).toBe(200);
    });
    expect(growth).toBeLessThan(150);
  });

  it("is sent no faster than a slow reader takes it", async () => {
    const url = await sign("GET");
    const hash = createHash("md5");
    const expected = createHash("md5");
    for (const piece of body()) expected.update(piece);
    const growth = await growthDuring(
      () =>
        new Promise((resolve, reject) => {
          get(url, async (response) => {
            await new Promise((go) => setTimeout(go, 500));
            for await (const chunk of response) hash.update(chunk);
            resolve(undefined);
          }).on("error", reject);
        }),
    );
    expect(hash.digest("hex")).toBe(expected.digest("hex"));
    expect(growth).toBeLessThan(150);
  });

  it("is stored in the SDK's chunk framing without being held in memory", async () => {
    const client = clientFor(endpoint, credentials.root);
    const ContentLength = megabytes * megabyte.length;
    const growth = await growthDuring(() =>
      client.send(
        new PutObjectCommand({ Bucket: "archives", Key: "framed", Body: Readable.from(body()), ContentLength }),
      ),
    );
    expect(growth).toBeLessThan(150);
  });
});
