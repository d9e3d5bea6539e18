import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

const pythonServer = `import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("python " + os.environ.get("GREETING", "unset")).encode())

HTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
`;

describe("deployments by language", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
  });
  afterAll(() => running.stop());

  test("a Python app runs with the requested Python, or has a warning that this machine has another one", async () => {
    const build = await deploy(running, { "main.py": pythonServer, ".python-version": "3.12\n" });
    expect(build).toMatchObject({ status: "ready", runtime: "python3.12" });
    if (build.warning !== null) expect(build.warning).toMatch(/Python 3\.12 is not installed on this machine/);
    expect(await (await fetch(await address(running))).text()).toBe("python unset");
  });

  test("a single-page app is served as files, with the page for every navigation", async () => {
    const build = await deploy(running, {
      "package.json": JSON.stringify({
        name: "spa",
        private: true,
        scripts: { build: "node build.mjs" },
        devDependencies: { vite: "file:./packages/vite" },
      }),
      "packages/vite/package.json": JSON.stringify({ name: "vite", version: "7.0.0" }),
      "vite.config.js": "export default {};\n",
      "index.html": "<!doctype html><script type=module src=/src/main.js></script>\n",
      "build.mjs": `import { mkdirSync, writeFileSync } from "node:fs";
mkdirSync("dist/assets", { recursive: true });
writeFileSync("dist/index.html", "<title>page</title>");
writeFileSync("dist/assets/app-B1x2c3D4.js", "console.log(1)");
`,
      ".npmrc": "offline=true\naudit=false\n",
    });
    expect(build).toMatchObject({ status: "ready", error: null });
    const url = await address(running);
    const page = await fetch(`${url}/some/route`, { headers: { accept: "text/html" } });
    expect([page.status, await page.text()]).toEqual([200, "<title>page</title>"]);
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const asset = await fetch(`${url}/assets/app-B1x2c3D4.js`);
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect((await fetch(`${url}/assets/gone.js`)).status).toBe(404);
  });

  test("an app that cannot be detected ends with an error that lists what was searched", async () => {
    const empty = await deploy(running, { "notes.txt": "nothing to run" });
    expect(empty).toMatchObject({ status: "error", runtime: null });
    expect(empty.error).toMatch(/Node\.js|Python/);
    const go = await deploy(running, { "go.mod": "module x\n", "main.go": "package main\n" });
    expect(go.error).toMatch(/Go/);
  });
});
