import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { staticServerText } from "../../../../buildpack/image/static-server/text.ts";

const longScript = "export const words = ['one', 'two', 'three'];\n".repeat(200);

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
  "dist/app.js": longScript,
  "dist/photo.png": Buffer.alloc(4096, 7),
  "dist/@scope/a+b, c.txt": "scoped",
  "dist/100%.txt": "percent",
  "dist/numbers.txt": "0123456789",
  "dist/with space.txt": "space",
  "dist/.env": "SECRET=1",
  "dist/.well-known/security.txt": "contact",
  "secret.txt": "outside",
  "dist-other/a.txt": "sibling",
};

const servers: { folder: string; child: ChildProcess }[] = [];
let port = 0;

/** Writes the files, prepares them as the image build does, and serves them; returns the port. */
async function serve(content: Record<string, string | Buffer>, args: string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "static-"));
  for (const [path, bytes] of Object.entries({ ...content, "server.mjs": await staticServerText() })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  symlinkSync("../secret.txt", join(folder, "dist", "link.txt"));
  symlinkSync("nowhere.txt", join(folder, "dist", "dangling.txt"));
  symlinkSync(".", join(folder, "dist", "circle"));
  symlinkSync("index.html", join(folder, "dist", "start.html"));
  execFileSync(process.execPath, ["server.mjs", "--prepare", "dist"], { cwd: folder });
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  const free = typeof address === "object" && address !== null ? address.port : 0;
  probe.close();
  await once(probe, "close");
  const child = spawn(process.execPath, ["server.mjs", "dist", ...args], {
    cwd: folder,
    env: { PORT: String(free), HOST: "127.0.0.1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push({ folder, child });
  if (child.stdout) await once(child.stdout, "data");
  return { port: free, child, folder };
}

beforeAll(async () => {
  ({ port } = await serve(files));
});

afterAll(async () => {
  for (const { child, folder } of servers) {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
  }
});

/** Sends the path unchanged: fetch would normalize it. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET", at = port) {
  const sent = request({ host: "127.0.0.1", port: at, path, method, headers, agent: false }).end();
  const [response]: IncomingMessage[] = await once(sent, "response");
  if (response === undefined) throw new Error("no response");
  const bytes = await buffer(response);
  return { status: response.statusCode, headers: response.headers, body: bytes.toString(), bytes };
}

test.each([
  ["/", "<h1>home</h1>", "text/html; charset=utf-8"],
  ["/?a=b", "<h1>home</h1>", "text/html; charset=utf-8"],
  ["/about", "<h1>about</h1>", "text/html; charset=utf-8"],
  ["/docs/", "<h1>docs</h1>", "text/html; charset=utf-8"],
  ["/numbers.txt", "0123456789", "text/plain; charset=utf-8"],
  ["/with%20space.txt", "space", "text/plain; charset=utf-8"],
  ["/.well-known/security.txt", "contact", "text/plain; charset=utf-8"],
  ["/%40scope/a%2Bb%2C%20c.txt", "scoped", "text/plain; charset=utf-8"],
  ["/100%25.txt", "percent", "text/plain; charset=utf-8"],
  ["/start", "<h1>home</h1>", "text/html; charset=utf-8"],
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

test.each<[string, string | undefined, number]>([
  ["/users/7", undefined, 200],
  ["/users/7", "*/*", 200],
  ["/users/7", "text/html;q=0.9,image/webp", 200],
  ["/users/7", "application/json", 404],
  ["/users/7", "application/json, text/plain, */*", 404],
  ["/users/7", "image/avif,image/webp,*/*;q=0.8", 404],
  ["/users/7", "text/html;q=0", 404],
  ["/users/7.json", "text/html", 404],
  ["/assets/gone.js", "text/html", 404],
  ["/wp-login.php", "text/html", 404],
])("the home page is never an answer to who asks for something else: %s, Accept: %s", async (path, accept, status) => {
  const answer = await get(path, accept === undefined ? {} : { accept });
  expect([answer.status, answer.body.includes("home")]).toEqual([status, status === 200]);
});

test("text is compressed at build time and sent as the client takes it", async () => {
  const sent = await get("/app.js", { "accept-encoding": "gzip, deflate, br" });
  expect(sent).toMatchObject({ status: 200, headers: { "content-encoding": "br", vary: "accept-encoding" } });
  expect(brotliDecompressSync(sent.bytes).toString()).toBe(longScript);
  expect(sent.bytes.length).toBeLessThan(longScript.length / 10);
  const zipped = await get("/app.js", { "accept-encoding": "gzip" });
  expect(gunzipSync(zipped.bytes).toString()).toBe(longScript);
  expect((await get("/app.js")).body).toBe(longScript);
  expect((await get("/photo.png", { "accept-encoding": "br" })).headers).not.toHaveProperty("content-encoding");
  expect((await get("/app.js", { "accept-encoding": "br", range: "bytes=7-11" })).body).toBe("const");
});

test("an unchanged file is not sent again, whichever form the client holds", async () => {
  for (const encoding of ["br", "identity"]) {
    const { etag = "" } = (await get("/app.js", { "accept-encoding": encoding })).headers;
    const again = await get("/app.js", { "accept-encoding": encoding, "if-none-match": etag });
    expect(again).toMatchObject({ status: 304, body: "", headers: { etag, vary: "accept-encoding" } });
  }
  expect(await get("/app.js", { "if-none-match": 'W/"1-2"' })).toMatchObject({ status: 200, body: longScript });
});

test("a site's own 404.html is sent for missing pages, with status 404", async () => {
  const page = `<h1>no such page</h1>${"<p>text</p>".repeat(200)}`;
  const site = await serve({ "dist/index.html": "home", "dist/404.html": page }, ["404.html"]);
  const at = (path: string, headers: Record<string, string> = {}) => get(path, headers, "GET", site.port);
  const missing = await at("/nowhere", { accept: "text/html" });
  expect(missing).toMatchObject({ status: 404, body: page, headers: { "cache-control": "no-cache" } });
  expect(missing.headers["content-type"]).toBe("text/html; charset=utf-8");
  const { etag = "" } = missing.headers;
  expect(await at("/nowhere", { "if-none-match": etag, range: "bytes=0-3" })).toMatchObject({
    status: 404,
    body: page,
  });
  const packed = await at("/nowhere", { "accept-encoding": "br" });
  expect([packed.status, brotliDecompressSync(packed.bytes).toString()]).toEqual([404, page]);
  expect((await at("/nowhere", { accept: "application/json" })).body).toBe("Not found\n");
  expect((await at("/")).body).toBe("home");
});

test("a 404.html goes before the fallback, and without either there is a plain 404", async () => {
  const both = await serve({ "dist/index.html": "home", "dist/404.html": "missing" });
  expect(await get("/users/7", {}, "GET", both.port)).toMatchObject({ status: 404, body: "missing" });
  const neither = await serve({ "dist/index.html": "home" }, ["404.html"]);
  expect(await get("/users/7", {}, "GET", neither.port)).toMatchObject({ status: 404, body: "Not found\n" });
});

test("SIGTERM ends the server at once, though clients hold on to their connections", async () => {
  const { port: own, child } = await serve({ "dist/index.html": "home", "dist/film.mp4": Buffer.alloc(64_000_000) });
  const stalled = connect(own, "127.0.0.1").on("error", () => undefined);
  stalled.write("GET /film.mp4 HTTP/1.1\r\nhost: x\r\n\r\n");
  stalled.pause();
  const idle = connect(own, "127.0.0.1").on("error", () => undefined);
  idle.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(idle, "data");
  child.kill("SIGTERM");
  // The stalled client never ends its connection: a server that waited for it would not exit before this test's time is up.
  expect(await once(child, "exit")).toEqual([0, null]);
  stalled.destroy();
  idle.destroy();
});

test("a build without output to serve fails with a message that names the folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "static-"));
  writeFileSync(join(folder, "server.mjs"), await staticServerText());
  try {
    expect(() =>
      execFileSync(process.execPath, ["server.mjs", "--prepare", "dist"], { cwd: folder, stdio: "pipe" }),
    ).toThrow("The build did not write the folder dist,");
    expect(existsSync(join(folder, "dist"))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(process.platform !== "linux")("a client that leaves costs no open file, and HEAD reads none", async () => {
  const { port: own, child } = await serve({ "dist/film.mp4": Buffer.alloc(64_000_000), "dist/index.html": "home" });
  const openFilms = () =>
    readdirSync(`/proc/${child.pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${child.pid}/fd/${fd}`).endsWith("film.mp4");
      } catch {
        return false;
      }
    }).length;
  const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${child.pid}/io`, "utf8"))?.[1]);
  const client = connect(own, "127.0.0.1");
  client.write("GET /film.mp4 HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(client, "readable");
  await expect.poll(openFilms).toBe(1);
  client.destroy();
  await expect.poll(openFilms).toBe(0);
  const before = bytesRead();
  expect((await get("/film.mp4", {}, "HEAD", own)).headers["content-length"]).toBe("64000000");
  await expect.poll(openFilms).toBe(0);
  expect(bytesRead() - before).toBeLessThan(1_000_000);
});
