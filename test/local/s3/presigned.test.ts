import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, type PresignInput, presign, raw, startFixture } from "./fixture.ts";

let s3: Fixture;
beforeAll(async () => {
  s3 = await startFixture();
});
afterAll(() => s3.stop());

const zip = { "content-type": "application/zip" };
const upload: PresignInput = { method: "PUT", path: "/archives/builds/b1.zip", contentType: "application/zip" };
const put = (url: string, headers: Record<string, string> = zip, body = "zipped") =>
  raw(url, { method: "PUT", headers: { "content-length": String(body.length), ...headers }, body });
const code = (text: string) => /<Code>(\w+)<\/Code><Message>([^<]*)/.exec(text)?.slice(1);

describe("an upload address", () => {
  it("accepts the file with the signed content type, repeatedly until it expires", async () => {
    const url = await presign(s3, upload);
    const first = await put(url);
    expect(first.status).toBe(200);
    expect(first.headers["x-amz-version-id"]).toBeDefined();
    expect((await put(url, zip, "again")).status).toBe(200);
    const object = await s3.client.send(new GetObjectCommand({ Bucket: "archives", Key: "builds/b1.zip" }));
    expect(object.ContentType).toBe("application/zip");
    expect(await object.Body?.transformToString()).toBe("again");
  });

  it("works with fetch", async () => {
    const reply = await fetch(await presign(s3, upload), { method: "PUT", headers: zip, body: "fetched" });
    expect(reply.status).toBe(200);
  });

  it.each([
    ["in UTF-8, as most clients write it", 'text/plain; name="über 日本 😀"', "utf8"],
    ["in Latin-1, as fetch writes it", 'text/plain; name="über"', "latin1"],
  ] as const)("takes a content type beyond ASCII %s", async (_, contentType, encoding) => {
    const url = await presign(s3, { ...upload, contentType });
    // With a text as the body, Node.js would write the header in the text's encoding.
    const body = Buffer.from("zipped");
    const asSent = Buffer.from(contentType, encoding).toString("latin1");
    const send = (type: string) =>
      raw(url, { method: "PUT", headers: { "content-length": "6", "content-type": type }, body });
    expect((await send(asSent)).status).toBe(200);
    expect((await send(asSent.replace("ber", "bar"))).status).toBe(403);
    const reply = await raw(await presign(s3, { path: upload.path }), {});
    expect(reply.headers["content-type"]).toBe(asSent);
  });

  it.each<[string, (url: string) => string]>([
    ["another key", (url) => url.replace("b1.zip", "b2.zip")],
    ["another bucket", (url) => url.replace("/archives/", "/plain/")],
    ["a longer validity", (url) => url.replace("X-Amz-Expires=3600", "X-Amz-Expires=7200")],
    ["an added parameter", (url) => `${url}&versionId=abc`],
    ["a signature that ends otherwise", (url) => url.replace(/(X-Amz-Signature=[0-9a-f]{60})[0-9a-f]{4}/, "$1zzzz")],
    ["an empty-looking signature", (url) => url.replace(/X-Amz-Signature=[0-9a-f]+/, "X-Amz-Signature=%00")],
    ["fewer signed headers", (url) => url.replace("content-type%3Bhost", "host")],
    ["a path that only means the same", (url) => url.replace("/builds/", "/builds/x/../")],
  ])("is refused with %s", async (_, change) => {
    const url = await presign(s3, upload);
    expect(change(url)).not.toBe(url);
    const reply = await put(change(url));
    expect(reply.status).toBe(403);
    expect(code(reply.text)?.[0]).toBe("SignatureDoesNotMatch");
  });

  it.each<[string, Record<string, string>]>([
    ["another content type", { "content-type": "text/html" }],
    ["a charset added to it", { "content-type": "application/zip; charset=utf-8" }],
    ["no content type", {}],
    ["another host", { ...zip, host: "evil.test" }],
    ["an unsigned x-amz header", { ...zip, "x-amz-meta-extra": "1" }],
    ["a copy smuggled in", { ...zip, "x-amz-copy-source": "archives/builds/b1.zip" }],
  ])("is refused with %s", async (_, headers) => {
    expect((await put(await presign(s3, upload), headers)).status).toBe(403);
  });

  it.each(["GET", "DELETE", "POST", "HEAD"])("does not allow %s", async (method) => {
    expect((await raw(await presign(s3, upload), { method, headers: zip })).status).toBe(403);
  });

  it("expires to the second, and is not valid before it was signed", async () => {
    const url = await presign(s3, { ...upload, expiresIn: 60, keys: s3.credentials.root });
    const early = await presign(s3, { ...upload, signingDate: new Date(s3.clock.now.getTime() + 16 * 60_000) });
    const started = s3.clock.now;
    s3.clock.now = new Date(started.getTime() + 59_999);
    expect((await put(url)).status).toBe(200);
    s3.clock.now = new Date(started.getTime() + 60_000);
    const late = await put(url);
    expect(late.status).toBe(403);
    expect(code(late.text)).toEqual(["AccessDenied", "Request has expired"]);
    s3.clock.now = started;
    expect(code((await put(early)).text)).toEqual(["AccessDenied", "Request is not valid yet"]);
  });

  it("expires with the session that signed it", async () => {
    const keys = s3.credentials.issue({
      roleArn: "arn:aws:iam::000000000000:role/s",
      sessionName: "short",
      durationSeconds: 900,
    });
    const url = await presign(s3, { ...upload, keys });
    expect((await put(url)).status).toBe(200);
    const started = s3.clock.now;
    s3.clock.now = new Date(started.getTime() + 900_000);
    expect(code((await put(url)).text)?.[0]).toBe("ExpiredToken");
    s3.clock.now = started;
    const withoutToken = url.replace(/X-Amz-Security-Token=[^&]+&/, "");
    expect(withoutToken).not.toBe(url);
    expect((await put(withoutToken)).status).toBe(403);
  });

  it("cannot be combined with an Authorization header, and cannot be valid for more than a week", async () => {
    const reply = await put(await presign(s3, upload), { ...zip, authorization: "Bearer x" });
    expect(code(reply.text)?.[0]).toBe("InvalidArgument");
    const url = await presign(s3, upload);
    const forever = await put(url.replace("X-Amz-Expires=3600", "X-Amz-Expires=999999"));
    expect(code(forever.text)?.[0]).toBe("AuthorizationQueryParametersError");
  });

  it("must sign the host, and every signed header must be sent", async () => {
    const anyHost = await presign(s3, { ...upload, unsignedHeaders: ["host"] });
    expect(code((await put(anyHost)).text)?.[0]).toBe("AccessDenied");
    const emptyType = await presign(s3, { ...upload, contentType: "" });
    expect(code((await put(emptyType, {})).text)?.[0]).toBe("SignatureDoesNotMatch");
  });

  it("carries metadata that is signed in the query", async () => {
    const url = await presign(s3, { ...upload, path: "/archives/meta", headers: { "x-amz-meta-build": "b7" } });
    expect((await put(url)).status).toBe(200);
    const head = await s3.client.send(new HeadObjectCommand({ Bucket: "archives", Key: "meta" }));
    expect(head.Metadata).toEqual({ build: "b7" });
  });

  it("with a signed checksum refuses every other body", async () => {
    const headers = { "x-amz-checksum-crc32": "AAAAAA==" };
    expect(code((await put(await presign(s3, { ...upload, headers }))).text)?.[0]).toBe("BadDigest");
  });
});

describe("a download address", () => {
  const path = "/archives/f%C3%A9%20%2B.txt";
  beforeAll(async () => {
    const input = { Bucket: "archives", Key: "fé +.txt", Body: "hello", ContentType: "text/plain" };
    await s3.client.send(new PutObjectCommand(input));
  });

  it("returns the file with the signed name and type", async () => {
    const query = {
      "response-content-disposition": `attachment; filename="a b.txt"; filename*=UTF-8''%C3%A9`,
      "response-content-type": "application/octet-stream",
    };
    const reply = await raw(await presign(s3, { path, query }));
    expect(reply.text).toBe("hello");
    expect(reply.headers["content-disposition"]).toBe(query["response-content-disposition"]);
    expect(reply.headers["content-type"]).toBe("application/octet-stream");
  });

  it("cannot be used with another name, or to break the answer's headers", async () => {
    const query = { "response-content-disposition": "inline" };
    const url = await presign(s3, { path, query });
    expect((await raw(url.replace("=inline", "=attachment"))).status).toBe(403);
    for (const value of ["a\r\nset-cookie: b", "名"]) {
      const broken = await raw(await presign(s3, { path, query: { "response-content-disposition": value } }));
      expect(code(broken.text)?.[0]).toBe("InvalidArgument");
    }
  });

  it("returns one version if it was signed for it", async () => {
    const { VersionId = "" } = await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "v", Body: "1" }));
    await s3.client.send(new PutObjectCommand({ Bucket: "archives", Key: "v", Body: "2" }));
    expect((await raw(await presign(s3, { path: "/archives/v", query: { versionId: VersionId } }))).text).toBe("1");
    expect((await raw(await presign(s3, { path: "/archives/v" }))).text).toBe("2");
  });

  it("supports ranges", async () => {
    const reply = await raw(await presign(s3, { path }), { headers: { range: "bytes=1-2" } });
    expect([reply.status, reply.text, reply.headers["content-range"]]).toEqual([206, "el", "bytes 1-2/5"]);
  });
});

describe("an unsigned request", () => {
  it.each(["GET", "PUT", "DELETE", "HEAD", "POST"])("is refused: %s", async (method) => {
    for (const path of ["/archives/builds/b1.zip", "/archives", "/", "/nowhere/x"]) {
      expect((await raw(`${s3.server.endpoint}${path}`, { method })).status).toBe(403);
    }
  });

  it("that is malformed is answered without a stack trace", async () => {
    const { endpoint } = s3.server;
    expect(code((await raw(`${endpoint}/archives/%zz`)).text)?.[0]).toBe("InvalidURI");
    const authorization = "AWS4-HMAC-SHA256 nonsense";
    const reply = await raw(`${endpoint}/archives/a`, { headers: { authorization } });
    expect(code(reply.text)?.[0]).toBe("AuthorizationHeaderMalformed");
    expect(reply.headers["x-amz-request-id"]).toMatch(/^[0-9A-F]{16}$/);
    expect(reply.text).not.toContain(".ts");
  });

  it("for an unsupported operation is refused, never treated as another operation", async () => {
    for (const name of ["acl", "tagging", "uploadId", "partNumber"]) {
      const reply = await put(await presign(s3, { ...upload, query: { [name]: "1" } }));
      expect([reply.status, code(reply.text)?.[0]]).toEqual([501, "NotImplemented"]);
    }
  });
});

describe("a web page of another origin", () => {
  const origin = "https://console.test";

  it("may upload and download after a preflight request", async () => {
    const asked = await raw(`${s3.server.endpoint}/archives/builds/b1.zip?X-Amz-Signature=any`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PUT", "access-control-request-headers": "content-type" },
    });
    expect(asked.status).toBe(200);
    expect(asked.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": expect.stringContaining("PUT"),
      "access-control-allow-headers": "content-type",
    });
    const reply = await put(await presign(s3, upload), { ...zip, origin });
    expect(reply.headers["access-control-allow-origin"]).toBe("*");
    expect(reply.headers["access-control-expose-headers"]).toContain("ETag");
    const refused = await put(`${await presign(s3, upload)}0`, { ...zip, origin });
    expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([403, "*"]);
  });

  it("may not delete, and may not use a bucket without a CORS rule", async () => {
    const ask = (bucket: string, method: string) =>
      raw(`${s3.server.endpoint}/${bucket}/x`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": method },
      });
    expect((await ask("archives", "DELETE")).status).toBe(403);
    expect((await ask("plain", "PUT")).status).toBe(403);
    expect((await ask("nowhere", "PUT")).status).toBe(403);
  });

  it("may send no header that the rule does not name, and nothing that the bucket's rule does not allow", async () => {
    const ask = (bucket: string, method: string, headers: string) =>
      raw(`${s3.server.endpoint}/${bucket}/x`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": method, "access-control-request-headers": headers },
      });
    expect((await ask("archives", "PUT", "Content-Type")).headers["access-control-allow-headers"]).toBe("content-type");
    expect((await ask("archives", "PUT", "content-type, authorization")).status).toBe(403);
    expect((await ask("uploads", "PUT", "content-type")).status).toBe(200);
    expect((await ask("uploads", "GET", "content-type")).status).toBe(403);
    const read = await raw(await presign(s3, { path: "/uploads/x" }), { headers: { origin } });
    expect(read.headers).not.toHaveProperty("access-control-allow-origin");
  });
});
