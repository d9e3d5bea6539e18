import { createHash, createHmac } from "node:crypto";
import { readdirSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Sha256 } from "../sts/sha256.ts";
import { type Fixture, presign, raw, region, startFixture, until } from "./fixture.ts";

let s3: Fixture;
beforeAll(async () => {
  s3 = await startFixture();
});
afterAll(() => s3.stop());

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const code = (text: string) => /<Code>(\w+)</.exec(text)?.[1];
const blobFiles = () =>
  readdirSync(join(s3.dir, "s3", "blobs"), { recursive: true }).filter((name) => String(name).length > 3).length;
const stored = async (Key: string) =>
  (await s3.client.send(new GetObjectCommand({ Bucket: "plain", Key }))).Body?.transformToString();

/** A PUT with a signed Authorization header and exactly these headers. */
async function signedPut(key: string, payloadHash: string, extra: Record<string, string> = {}) {
  const { hostname, port, host } = new URL(s3.server.endpoint);
  const signer = new SignatureV4({
    credentials: s3.credentials.root,
    region,
    service: "s3",
    sha256: Sha256,
    uriEscapePath: false,
  });
  const headers = { host, "x-amz-content-sha256": payloadHash, ...extra };
  const path = `/plain/${key}`;
  const unsigned = { method: "PUT", protocol: "http:", hostname, port: Number(port), path, query: {}, headers };
  const signed = await signer.sign(unsigned, { signingDate: s3.clock.now });
  const send = (body: Buffer | string | Readable, more: Record<string, string> = {}) =>
    raw(`${s3.server.endpoint}${path}`, {
      method: "PUT",
      headers: {
        ...signed.headers,
        ...(body instanceof Readable ? {} : { "content-length": String(body.length) }),
        ...more,
      },
      body,
    });
  return { headers: signed.headers, send };
}

describe("digests of a body", () => {
  it.each([
    ["its SHA-256", sha256("hello"), {}, 200],
    ["another SHA-256", sha256("other"), {}, "XAmzContentSHA256Mismatch"],
    ["no hash at all", "", {}, "InvalidRequest"],
    ["an invalid hash", "abc", {}, "InvalidArgument"],
    ["its MD5", "UNSIGNED-PAYLOAD", { "content-md5": createHash("md5").update("hello").digest("base64") }, 200],
    ["another MD5", "UNSIGNED-PAYLOAD", { "content-md5": createHash("md5").update("x").digest("base64") }, "BadDigest"],
    ["an invalid MD5", "UNSIGNED-PAYLOAD", { "content-md5": "abc" }, "InvalidDigest"],
    ["its CRC32", "UNSIGNED-PAYLOAD", { "x-amz-checksum-crc32": "NhCmhg==" }, 200],
    ["another CRC32", "UNSIGNED-PAYLOAD", { "x-amz-checksum-crc32": "AAAAAA==" }, "BadDigest"],
    ["an invalid CRC32", "UNSIGNED-PAYLOAD", { "x-amz-checksum-crc32": "AA" }, "InvalidRequest"],
    ["another SHA-256 checksum", "UNSIGNED-PAYLOAD", { "x-amz-checksum-sha256": `${"A".repeat(43)}=` }, "BadDigest"],
    ["a condition", "UNSIGNED-PAYLOAD", { "if-none-match": "*" }, "NotImplemented"],
  ])("are checked: %s", async (_, payloadHash, extra, expected) => {
    const before = blobFiles();
    const key = `digest-${sha256(JSON.stringify([payloadHash, extra]))}`;
    const { send } = await signedPut(key, payloadHash, extra);
    const reply = await send("hello");
    if (expected === 200) {
      expect(reply.status).toBe(200);
      expect(await stored(key)).toBe("hello");
    } else {
      expect(code(reply.text)).toBe(expected);
      await expect(stored(key)).rejects.toMatchObject({ name: "NoSuchKey" });
      expect(blobFiles()).toBe(before);
    }
  });
});

interface Signed {
  authorization: string;
  "x-amz-date": string;
}

/** Frames and signs chunks as an SDK does for STREAMING-AWS4-HMAC-SHA256-PAYLOAD. */
function signedChunks(headers: Signed, chunks: string[], trailer?: string): string {
  const date = headers["x-amz-date"];
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${s3.credentials.root.secretAccessKey}`);
  let previous = headers.authorization.slice(-64);
  const next = (algorithm: string, lines: string[]) => {
    previous = hmac(key, [algorithm, date, scope, previous, ...lines].join("\n")).toString("hex");
    return previous;
  };
  const frames = [...chunks, ""].map((chunk) => {
    const signature = next("AWS4-HMAC-SHA256-PAYLOAD", [sha256(""), sha256(chunk)]);
    return `${chunk.length.toString(16)};chunk-signature=${signature}\r\n${chunk}${chunk === "" ? "" : "\r\n"}`;
  });
  if (trailer === undefined) return `${frames.join("")}\r\n`;
  const signature = next("AWS4-HMAC-SHA256-TRAILER", [sha256(`${trailer}\n`)]);
  return `${frames.join("")}${trailer}\r\nx-amz-trailer-signature:${signature}\r\n\r\n`;
}

const asSigned = (headers: Record<string, string>): Signed => ({
  authorization: headers.authorization ?? "",
  "x-amz-date": headers["x-amz-date"] ?? "",
});

describe("signed chunks", () => {
  const framing = { "content-encoding": "aws-chunked", "x-amz-decoded-content-length": "10" };
  const type = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";

  it("are decoded if each signature is valid", async () => {
    const { headers, send } = await signedPut("chunks", type, framing);
    expect((await send(signedChunks(asSigned(headers), ["hello", "world"]))).status).toBe(200);
    expect(await stored("chunks")).toBe("helloworld");
  });

  it.each<[string, (body: string) => string, string]>([
    ["altered", (body) => body.replace("world", "w0rld"), "SignatureDoesNotMatch"],
    ["swapped", (body) => body.replace(/(5;.{80}\r\n.{5}\r\n)(5;.{80}\r\n.{5}\r\n)/, "$2$1"), "SignatureDoesNotMatch"],
    ["cut off", (body) => body.slice(0, body.indexOf("0;chunk")), "IncompleteBody"],
    ["unsigned", (body) => body.replaceAll(/;chunk-signature=\w+/g, ""), "SignatureDoesNotMatch"],
    ["of another length", (body) => body.replace(/^5;/, "4;"), "SignatureDoesNotMatch"],
    ["followed by more", (body) => `${body}x`, "IncompleteBody"],
    ["no chunks", () => "hello world", "IncompleteBody"],
  ])("are refused when %s", async (_, change, expected) => {
    const { headers, send } = await signedPut("bad-chunks", type, framing);
    const body = signedChunks(asSigned(headers), ["hello", "world"]);
    expect(change(body)).not.toBe(body);
    expect(code((await send(change(body))).text)).toBe(expected);
    await expect(stored("bad-chunks")).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  it("can have a signed trailer", async () => {
    const checksum = `x-amz-checksum-crc32:${Buffer.from(crc32("helloworld").toString(16).padStart(8, "0"), "hex").toString("base64")}`;
    const trailing = { ...framing, "x-amz-trailer": "x-amz-checksum-crc32" };
    const { headers, send } = await signedPut("trailer", `${type}-TRAILER`, trailing);
    const body = signedChunks(asSigned(headers), ["hello", "world"], checksum);
    expect((await send(body)).status).toBe(200);
    const tampered = await send(body.replace(/trailer-signature:../, "trailer-signature:00"));
    expect(code(tampered.text)).toBe("SignatureDoesNotMatch");
  });
});

describe("an unsigned trailer", () => {
  const type = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  const framing = { "x-amz-decoded-content-length": "5", "x-amz-trailer": "x-amz-checksum-crc32" };

  it.each([
    ["good", "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", 200],
    ["of another body", "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", "BadDigest"],
    ["missing", "5\r\nhello\r\n0\r\n\r\n", "MalformedTrailerError"],
    ["broken", "5\r\nhello\r\n0\r\nnonsense\r\n\r\n", "MalformedTrailerError"],
    ["after less than was declared", "4\r\nhell\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", "IncompleteBody"],
    ["after more than was declared", "6\r\nhello!\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", "IncompleteBody"],
    ["behind an endless line", "5".repeat(20_000), "IncompleteBody"],
  ])("is checked: %s", async (_, body, expected) => {
    const { send } = await signedPut("unsigned-trailer", type, framing);
    const reply = await send(body);
    expect(expected === 200 ? reply.status : code(reply.text)).toBe(expected);
  });

  it("is found however the bytes are split", async () => {
    const { send } = await signedPut("cut", type, framing);
    const body = Buffer.from("5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n");
    const drops = Readable.from(
      (async function* () {
        for (const byte of body) {
          yield Buffer.from([byte]);
          await new Promise((resolve) => setImmediate(resolve));
        }
      })(),
    );
    expect((await send(drops, { "content-length": String(body.length) })).status).toBe(200);
    expect(await stored("cut")).toBe("hello");
  });
});

describe("the length of a body", () => {
  it("must be declared", async () => {
    const url = await presign(s3, { method: "PUT", path: "/plain/length" });
    const reply = await raw(url, {
      method: "PUT",
      headers: { "transfer-encoding": "chunked" },
      body: Readable.from(["abc"]),
    });
    expect([reply.status, code(reply.text)]).toEqual([411, "MissingContentLength"]);
  });

  it("must not exceed 5 GiB", async () => {
    const url = await presign(s3, { method: "PUT", path: "/plain/length" });
    const headers = { "content-length": String(5 * 1024 ** 3 + 1), expect: "100-continue" };
    const outgoing = httpRequest(url, { method: "PUT", headers, agent: false });
    outgoing.flushHeaders();
    const status = await new Promise((resolve) => outgoing.on("response", (response) => resolve(response.statusCode)));
    outgoing.destroy();
    expect(status).toBe(400);
  });
});

describe("a connection", () => {
  it("that breaks during an upload leaves nothing behind", async () => {
    const before = blobFiles();
    const url = new URL(await presign(s3, { method: "PUT", path: "/plain/half" }));
    const socket = connect(Number(url.port), url.hostname);
    socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-length: 1000000\r\n\r\n`);
    socket.write(Buffer.alloc(200_000));
    await until(() => blobFiles() > before, "the upload begins");
    socket.destroy();
    await until(() => blobFiles() === before, "the half file is gone");
    await expect(stored("half")).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  it("gets 100 Continue only if the signature is valid", async () => {
    const ask = async (url: string) => {
      const headers = { "content-length": "5", expect: "100-continue", connection: "keep-alive" };
      const outgoing = httpRequest(url, { method: "PUT", headers, agent: false });
      outgoing.flushHeaders();
      const seen: (string | number | undefined)[] = [];
      outgoing.on("continue", () => {
        seen.push("continue");
        outgoing.end("hello");
      });
      await new Promise<void>((resolve) => {
        outgoing.on("response", (response) => {
          seen.push(response.statusCode, response.headers.connection);
          response.resume().on("end", resolve);
        });
      });
      outgoing.on("error", () => {}).destroy();
      return seen;
    };
    const url = await presign(s3, { method: "PUT", path: "/plain/continue" });
    expect(await ask(url)).toEqual(["continue", 200, "keep-alive"]);
    expect(await ask(url.replace("/continue", "/other"))).toEqual([403, "close"]);
  });

  it("gets the answer to a refused upload while the body is still being sent, and can be used for the next request", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const send = (url: string, body: Buffer) =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = httpRequest(
          url,
          { method: "PUT", agent, headers: { "content-length": body.length } },
          (response) => {
            sockets.add(response.socket);
            response.resume().on("end", () => resolve(response.statusCode));
          },
        );
        outgoing.on("error", reject).end(body);
      });
    const url = await presign(s3, { method: "PUT", path: "/plain/refused" });
    const badChecksum = await presign(s3, {
      method: "PUT",
      path: "/plain/sum",
      headers: { "x-amz-checksum-crc32": "AAAAAA==" },
    });
    expect(await send(`${url}0`, Buffer.alloc(5_000_000))).toBe(403);
    expect(await send(badChecksum, Buffer.alloc(5_000_000))).toBe(400);
    const { headers } = await signedPut("framing", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", {
      "x-amz-decoded-content-length": "5",
    });
    const brokenFraming = new Promise<number | undefined>((resolve, reject) => {
      const options = { method: "PUT", agent, headers: { ...headers, "content-length": 5_000_000 } };
      const outgoing = httpRequest(`${s3.server.endpoint}/plain/framing`, options, (response) =>
        response.resume().on("end", () => resolve(response.statusCode)),
      );
      outgoing.on("error", reject).end(Buffer.alloc(5_000_000, "x"));
    });
    expect(await brokenFraming).toBe(400);
    expect(await send(url, Buffer.from("hello"))).toBe(200);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });
});
