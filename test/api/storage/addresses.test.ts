import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { upload } from "../../harness/app.ts";
import { type HeldEvents, startHeldEvents } from "./held-events.ts";

/** The addresses against a storage that checks signatures as S3 does. */
let held: HeldEvents;
beforeAll(async () => {
  held = await startHeldEvents({ versioned: false });
});
afterAll(() => held.stop());
beforeEach(() => {
  held.clock.aheadMs = 0;
});

const bytes = Buffer.from("hello");
async function prepared(mime = "text/plain") {
  const { body } = await held.call("POST", held.files, { body: { files: [{ name: "a", mime }] } });
  return body.files[0];
}
const read = async (id: string) => (await held.call("GET", `${held.files}/${id}`)).body.file;

describe("an upload address", () => {
  test("takes the file's bytes again and again, with its Content-Type and no other header", async () => {
    const file = await prepared();
    for (const text of ["first", "second, longer"]) {
      expect((await upload(file.url, Buffer.from(text), "text/plain")).status).toBe(200);
      expect(await (await fetch((await read(file.id)).url)).text()).toBe(text);
    }
  });

  test("signs host and Content-Type and carries no checksum", async () => {
    const { searchParams } = new URL((await prepared()).url);
    expect(searchParams.get("X-Amz-SignedHeaders")).toBe("content-type;host");
    expect(searchParams.get("X-Amz-Expires")).toBe("3600");
    expect([...searchParams.keys()].filter((name) => /checksum/i.test(name))).toEqual([]);
  });

  test("is refused with another Content-Type, key, method or signature", async () => {
    const [file, other] = [await prepared(), await prepared()];
    const headers = { "content-type": "text/plain" };
    const attempts: [string, RequestInit][] = [
      [file.url, { method: "PUT", body: bytes, headers: { "content-type": "text/html" } }],
      [file.url, { method: "PUT", body: bytes }],
      [file.url.replace(file.id, other.id), { method: "PUT", body: bytes, headers }],
      [file.url.replace(/Signature=.{8}/, "Signature=00000000"), { method: "PUT", body: bytes, headers }],
      [file.url.replace("X-Amz-Expires=3600", "X-Amz-Expires=7200"), { method: "PUT", body: bytes, headers }],
      [
        file.url.replace(/X-Amz-SignedHeaders=[^&]+/, "X-Amz-SignedHeaders=host"),
        { method: "PUT", body: bytes, headers },
      ],
      [file.url, { method: "PUT", body: bytes, headers: { ...headers, "x-amz-acl": "public-read" } }],
      [file.url, { method: "GET", headers }],
      [file.url, { method: "DELETE", headers }],
      [file.url.split("?", 1)[0] ?? "", { method: "PUT", body: bytes, headers }],
    ];
    for (const [url, request] of attempts) expect((await fetch(url, request)).status).toBe(403);
    expect(await read(file.id)).toMatchObject({ status: "pending" });
    expect(await read(other.id)).toMatchObject({ status: "pending" });
  });

  test("lives for its whole hour and not longer", async () => {
    const file = await prepared();
    const put = () => upload(file.url, bytes, "text/plain");
    const leftMs = Date.parse(file.expiresAt) - Date.now();
    held.clock.aheadMs = leftMs - 30_000;
    expect((await put()).status).toBe(200);
    held.clock.aheadMs = leftMs + 10;
    expect((await put()).status).toBe(403);
  });
});

describe("a download address", () => {
  test("is given while the file is pending too, and then storage has nothing", async () => {
    const file = await read((await prepared()).id);
    expect(file).toMatchObject({ status: "pending", size: 0 });
    expect((await fetch(file.url)).status).toBe(404);
  });

  test("lives for its whole hour and not longer, and cannot be turned into anything else", async () => {
    const { id, url: uploadUrl } = await prepared();
    await upload(uploadUrl, bytes, "text/plain");
    const { url } = await read(id);
    const signedAt = Date.parse(
      (new URL(url).searchParams.get("X-Amz-Date") ?? "").replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5"),
    );
    for (const method of ["PUT", "DELETE", "HEAD"]) expect((await fetch(url, { method })).status).toBe(403);
    expect((await fetch(url.replace("attachment", "inline"))).status).toBe(403);
    held.clock.aheadMs = signedAt + 3_600_000 - Date.now() - 30_000;
    expect((await fetch(url)).status).toBe(200);
    held.clock.aheadMs += 32_000;
    expect((await fetch(url)).status).toBe(403);
  });
});

describe("a browser", () => {
  test("may upload from any page after asking, and may read the answer", async () => {
    const file = await prepared("image/png");
    const origin = { origin: "https://app.example" };
    const asked = await fetch(file.url, {
      method: "OPTIONS",
      headers: { ...origin, "access-control-request-method": "PUT", "access-control-request-headers": "content-type" },
    });
    expect(asked.status).toBe(200);
    expect(asked.headers.get("access-control-allow-origin")).toBe("*");
    expect(asked.headers.get("access-control-allow-methods")).toContain("PUT");
    expect(asked.headers.get("access-control-allow-headers")).toContain("content-type");
    const put = await fetch(file.url, {
      method: "PUT",
      body: bytes,
      headers: { ...origin, "content-type": "image/png" },
    });
    expect(put.status).toBe(200);
    expect(put.headers.get("access-control-allow-origin")).toBe("*");
    const got = await fetch((await read(file.id)).url, { headers: origin });
    expect(got.headers.get("access-control-allow-origin")).toBe("*");
    expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
  });
});
