import { brotliDecompressSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleConsole, type ConsoleFile } from "../../console/bundle.ts";
import type { Running } from "../harness/service.ts";
import { runningConsole } from "./harness.ts";

describe("the files of the console", () => {
  let files: ConsoleFile[];
  let running: Running;
  beforeAll(async () => {
    [files, running] = await Promise.all([bundleConsole("quick"), runningConsole()]);
  }, 60_000);

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(running.seed.baseUrl + path, { headers: { "accept-encoding": "identity", ...headers } });

  test("all pages together have at most 100 KB, compressed by gzip", () => {
    const sizes = files.map(({ brotli }) => gzipSync(brotliDecompressSync(Buffer.from(brotli, "base64"))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100 * 1024);
  });

  test("no file of the console names an outside host", () => {
    for (const { name, brotli } of files) {
      const text = brotliDecompressSync(Buffer.from(brotli, "base64")).toString();
      const hosts = [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
      // Names of XML's vocabularies, and links in messages of a package, are not fetched.
      expect([
        name,
        hosts.filter(
          (host) => !["www.w3.org", "simplewebauthn.dev", "github.com", "localhost", "127.0.0.1"].includes(host ?? ""),
        ),
      ]).toEqual([name, []]);
    }
  });

  describe("the function that serves the console", () => {
    test("the page is checked for a new version each time, and its policy allows nothing inline and no frame", async () => {
      const response = await get("/console");
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(response.headers.get("cache-control")).toBe("no-cache");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|https?:(?!\/\/(127\.0\.0\.1|localhost):)|\*/);
      const text = await response.text();
      expect(text).not.toMatch(
        /<style|<script(?! type="module" src="\/console\/assets\/[\w.-]+"><\/script>)|\son\w+=|style=/,
      );
      const again = await get("/console", { "if-none-match": response.headers.get("etag") ?? "" });
      expect(again.status).toBe(304);
    });

    test("the page names all that its first script imports, so that nothing is found one after another", async () => {
      const text = await (await get("/console")).text();
      expect(text).toContain('<link rel="preload" href="/console/session" as="fetch" crossorigin>');
      const scripts = [...text.matchAll(/"\/console\/assets\/([^"]+\.js)"/g)].map(([, name]) => String(name));
      expect(scripts.length).toBeGreaterThan(1);
      for (const name of scripts) {
        const code = await (await get(`/console/assets/${name}`)).text();
        const imported = [...code.matchAll(/\b(?:from|import)"\.\/([^"]+)"/g)].map(([, file]) => file);
        expect(scripts).toEqual(expect.arrayContaining(imported));
      }
    });

    test("files with a hash in their name are kept forever, and are sent in brotli's format or gzip's", async () => {
      const text = await (await get("/console")).text();
      const assets = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path]) => String(path));
      expect(assets.length).toBeGreaterThan(3);
      for (const path of assets) {
        const plain = await get(path);
        expect([path, plain.status]).toEqual([path, 200]);
        expect(path).toMatch(/-[A-Z0-9]{8}\.(js|css|svg)$/);
        expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
        const body = await plain.text();
        for (const encoding of ["br", "gzip"]) {
          const packed = await get(path, { "accept-encoding": encoding });
          expect(packed.headers.get("content-encoding")).toBe(encoding);
          expect(await packed.text()).toBe(body);
        }
      }
    });

    test.each([
      ["/console/orgs/org_1/projects/prj_1/builds", 200],
      ["/console/no/such/page", 200],
      ["/console/assets/main-00000000.js", 404],
      ["/console/assets/", 404],
      ["/console/assets/../index.html", 404],
      ["/console/favicon.ico", 404],
      ["/console/index.html", 404],
    ])("%s is answered with %i", async (path, status) => {
      // A client of HTTP would resolve the dots before it sends them.
      const response = await get(path.replace("..", "%2e%2e"));
      expect(response.status).toBe(status);
      const type = status === 200 ? "text/html; charset=utf-8" : "application/json";
      expect(response.headers.get("content-type")).toBe(type);
    });

    test("the routes of the session are not the console's page", async () => {
      const session = await get("/console/session");
      expect([session.status, session.headers.get("content-type")]).toEqual([401, "application/json"]);
      const options = await fetch(`${running.seed.baseUrl}/console/passkeys/sign-in-options`, { method: "POST" });
      expect(options.headers.get("content-type")).toBe("application/json");
      const post = await fetch(`${running.seed.baseUrl}/console`, { method: "POST" });
      expect(post.status).toBe(404);
    });
  });
});
