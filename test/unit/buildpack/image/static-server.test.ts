import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { staticServer } from "../../../../buildpack/image/static-server.ts";

const files: Record<string, string | Buffer> = {
  "dist/index.html": "<h1>home</h1>",
  "dist/about.html": "<h1>about</h1>",
  "dist/docs/index.html": "<h1>docs</h1>",
  "dist/assets/index-BxK3f9aZ.js": "console.log(1)",
  "dist/static/js/main.8f3a2b1c.js": "console.log(2)",
  "dist/logo-LinkedIn.svg": "<svg/>",
  "dist/bootstrap-5-bundle.js": "x",
  "dist/_astro/page.css": "a{}",
  "dist/big.js": "console.log('big')",
  "dist/big.js.gz": gzipSync("console.log('big')"),
  "dist/numbers.txt": "0123456789",
  "dist/with space.txt": "space",
  "dist/.env": "SECRET=1",
  "dist/.well-known/security.txt": "contact",
  "secret.txt": "outside",
  "dist-other/a.txt": "sibling",
};

let folder = "";
let port = 0;
let child: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "static-"));
  for (const [path, content] of Object.entries({ ...files, "server.mjs": staticServer })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  symlinkSync("../secret.txt", join(folder, "dist", "link.txt"));
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  child = spawn(process.execPath, ["server.mjs", "dist"], {
    cwd: folder,
    env: { PORT: String(port), HOST: "127.0.0.1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout) await once(child.stdout, "data");
});

afterAll(async () => {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
  rmSync(folder, { recursive: true });
});

/** The path goes out as it is: fetch would tidy it first. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false }).end();
  const [response]: IncomingMessage[] = await once(sent, "response");
  if (response === undefined) throw new Error("no response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

test.each([
  ["/", "<h1>home</h1>", "text/html; charset=utf-8"],
  ["/?a=b", "<h1>home</h1>", "text/html; charset=utf-8"],
  ["/about", "<h1>about</h1>", "text/html; charset=utf-8"],
  ["/docs/", "<h1>docs</h1>", "text/html; charset=utf-8"],
  ["/numbers.txt", "0123456789", "text/plain; charset=utf-8"],
  ["/with%20space.txt", "space", "text/plain; charset=utf-8"],
  ["/.well-known/security.txt", "contact", "text/plain; charset=utf-8"],
])("%s is served as a file", async (path, body, type) => {
  expect(await get(path)).toMatchObject({
    status: 200,
    body,
    headers: { "content-type": type, "x-content-type-options": "nosniff" },
  });
});

test("a folder without its slash is sent to the one with it", async () => {
  expect(await get("/docs?x=1")).toMatchObject({ status: 301, headers: { location: "/docs/?x=1" } });
});

test("a navigation that meets no file gets the page, a missing file does not", async () => {
  expect(await get("/users/7", { accept: "text/html,*/*" })).toMatchObject({
    status: 200,
    body: "<h1>home</h1>",
    headers: { "cache-control": "no-cache" },
  });
  expect(await get("/users/john.doe", { accept: "text/html" })).toMatchObject({ status: 200, body: "<h1>home</h1>" });
  expect(await get("/assets/old-AbC12345.js", { accept: "*/*" })).toMatchObject({ status: 404 });
});

test.each(["/assets/index-BxK3f9aZ.js", "/static/js/main.8f3a2b1c.js", "/_astro/page.css"])(
  "%s carries its content's hash and is kept for ever",
  async (path) => {
    expect((await get(path)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  },
);

test.each(["/", "/about.html", "/logo-LinkedIn.svg", "/bootstrap-5-bundle.js", "/numbers.txt"])(
  "%s is asked for again each time",
  async (path) => {
    expect((await get(path)).headers["cache-control"]).toBe("no-cache");
  },
);

test.each([
  "/../secret.txt",
  "/..%2fsecret.txt",
  "/%2e%2e/secret.txt",
  "/..%5csecret.txt",
  "//../secret.txt",
  "/docs/../../secret.txt",
  "/link.txt",
  "/.env",
  "/../dist-other/a.txt",
  "/docs/%2e%2e/%2e%2e/secret.txt",
])("nothing outside the folder, and nothing hidden, is served: %s", async (path) => {
  const { status, body } = await get(path);
  expect([400, 404, 200]).toContain(status);
  expect(body).not.toMatch(/outside|sibling|SECRET/);
  if (status === 200) expect(body).toBe("<h1>home</h1>");
});

test.each(["/%", "/%zz", "/a%00b", "*"])("a path that cannot be read is a bad request: %s", async (path) => {
  expect((await get(path)).status).toBe(400);
});

test("ranges, conditions and HEAD are answered", async () => {
  const whole = await get("/numbers.txt");
  const { etag = "" } = whole.headers;
  expect(await get("/numbers.txt", { range: "bytes=2-4" })).toMatchObject({
    status: 206,
    body: "234",
    headers: { "content-range": "bytes 2-4/10", "content-length": "3" },
  });
  expect(await get("/numbers.txt", { range: "bytes=-3" })).toMatchObject({ status: 206, body: "789" });
  expect(await get("/numbers.txt", { range: "bytes=7-" })).toMatchObject({ status: 206, body: "789" });
  expect(await get("/numbers.txt", { range: "bytes=20-" })).toMatchObject({
    status: 416,
    headers: { "content-range": "bytes */10" },
  });
  expect(await get("/numbers.txt", { range: "bytes=2-4", "if-range": '"old"' })).toMatchObject({
    status: 200,
    body: "0123456789",
  });
  expect(await get("/numbers.txt", { "if-none-match": `"x", ${etag}` })).toMatchObject({ status: 304, body: "" });
  expect(await get("/numbers.txt", {}, "HEAD")).toMatchObject({
    status: 200,
    body: "",
    headers: { "content-length": "10" },
  });
  expect(await get("/numbers.txt", {}, "POST")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
});

test("a file that was compressed at build time is sent so", async () => {
  expect(await get("/big.js", { "accept-encoding": "gzip, br" })).toMatchObject({
    status: 200,
    headers: { "content-encoding": "gzip", vary: "accept-encoding", "content-type": "text/javascript; charset=utf-8" },
  });
  expect((await get("/big.js")).body).toBe("console.log('big')");
});
