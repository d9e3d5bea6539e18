import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { uploadArchive } from "../../../sdk/upload-archive.ts";

const bytes = randomBytes(3 * 1024 * 1024);
let folder: string;
let archive: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "upload-"));
  archive = join(folder, "app.zip");
  writeFileSync(archive, bytes);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const signature = "X-Amz-Signature=5ec3e7";
const noSleep = async () => undefined;

async function storage(
  answer: (request: IncomingMessage, response: ServerResponse, body: () => Promise<Buffer>) => void,
  { before }: { before?: (request: IncomingMessage, response: ServerResponse) => void } = {},
) {
  const whole = async (request: IncomingMessage) => Buffer.concat(await request.toArray());
  const server = createServer((request, response) => answer(request, response, () => whole(request)));
  if (before) server.on("checkContinue", before);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/archives/bld_1.zip?${signature}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const refusal = `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>expired</Message><Url>${signature}</Url></Error>`;

test("the archive arrives byte for byte, with its length and type, and without any key", async () => {
  let seen: { headers: IncomingMessage["headers"]; method: string | undefined; body: Buffer } | undefined;
  await using s3 = await storage(async (request, response, body) => {
    seen = { headers: request.headers, method: request.method, body: await body() };
    response.end();
  });
  const steps: number[] = [];
  await uploadArchive(s3.url, archive, { onProgress: ({ sentBytes }) => void steps.push(sentBytes) });
  expect(seen?.method).toBe("PUT");
  expect(seen?.headers).toMatchObject({ "content-type": "application/zip", "content-length": String(bytes.length) });
  expect(seen?.headers).not.toHaveProperty("authorization");
  expect(seen?.headers).not.toHaveProperty("transfer-encoding");
  expect(seen?.body.equals(bytes)).toBe(true);
  expect(steps.length).toBeGreaterThan(10);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(steps.at(-1)).toBe(bytes.length);
});

test("a stream is uploaded as it comes, with the type it is stored under", async () => {
  let type: string | undefined;
  let length = 0;
  await using s3 = await storage(async (request, response, body) => {
    type = request.headers["content-type"];
    length = (await body()).length;
    response.end();
  });
  await uploadArchive(s3.url, { stream: Readable.from([bytes]), size: bytes.length }, { contentType: "image/png" });
  expect([type, length]).toEqual(["image/png", bytes.length]);
});

test("an address that is refused costs no upload, and is not shown", async () => {
  let received = 0;
  await using s3 = await storage((request) => void request.on("data", (piece: Buffer) => (received += piece.length)), {
    before: (_, response) => response.writeHead(403).end(refusal),
  });
  const upload = uploadArchive(s3.url, archive);
  await expect(upload).rejects.toMatchObject({ code: "upload_refused", status: 403 });
  await expect(upload).rejects.toThrow("403 AccessDenied");
  const error = await upload.catch((reason: unknown) => reason);
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("5ec3e7");
  expect(received).toBe(0);
});

test("a small archive is sent without asking first, which would cost a round trip", async () => {
  const expected: unknown[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    expected.push(request.headers.expect);
    request.resume().on("end", () => response.end());
  };
  await using s3 = await storage(answer, { before: answer });
  await uploadArchive(s3.url, Buffer.alloc(1000));
  await uploadArchive(s3.url, bytes);
  expect(expected).toEqual([undefined, "100-continue"]);
});

test("a server that does not support Expect gets the archive after a second", async () => {
  let length = 0;
  await using s3 = await storage(() => undefined, {
    before: async (request, response) => {
      length = Buffer.concat(await request.toArray()).length;
      response.end();
    },
  });
  await uploadArchive(s3.url, archive);
  expect(length).toBe(bytes.length);
});

test("after a broken connection or a 500 the whole file is sent again", async () => {
  const lengths: number[] = [];
  await using s3 = await storage(async (request, response, body) => {
    if (lengths.push(0) === 1) request.socket.destroy();
    const { length } = await body().catch(() => []);
    lengths[lengths.length - 1] = length;
    response.writeHead(lengths.length === 2 ? 500 : 200).end();
  });
  await uploadArchive(s3.url, archive, { sleep: noSleep });
  expect(lengths).toEqual([0, bytes.length, bytes.length]);
});

test("a stream that gives less than it said is a failed upload", async () => {
  await using s3 = await storage(async (_, response, body) => {
    await body().catch(() => undefined);
    response.end();
  });
  const short = { stream: Readable.from([Buffer.alloc(10)]), size: 20 };
  await expect(uploadArchive(s3.url, short)).rejects.toMatchObject({ code: "network" });
});

test("an upload stops with the signal's reason", async () => {
  const controller = new AbortController();
  await using s3 = await storage((request) => void request.once("data", () => controller.abort(new Error("stop"))));
  await expect(uploadArchive(s3.url, archive, { signal: controller.signal })).rejects.toThrow("stop");
});

test("an invalid address is refused without quoting it", async () => {
  await expect(uploadArchive(`broken ${signature}`, archive)).rejects.toThrow(/^(?!.*5ec3e7)/);
});
