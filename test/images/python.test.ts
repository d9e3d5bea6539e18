import { describe, expect, test } from "vitest";
import { Container } from "./container.ts";
import { noEngine } from "./engine.ts";
import { buildImage, imageIn, zipOf } from "./image.ts";

const server = `
import http.server, json, os, signal, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"pid": os.getpid(), "user": os.getuid(), "prefix": sys.prefix, "folder": os.getcwd()}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass

def stop(signal, frame):
    print("the app heard SIGTERM as process", os.getpid())
    sys.exit(7)

def main():
    signal.signal(signal.SIGTERM, stop)
    http.server.HTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
`;

/** A package as \`python -m build\` would pack it, with a program of its own. */
const wheel = () =>
  zipOf({
    "greeting/__init__.py": server,
    "greeting-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n",
    "greeting-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "greeting-1.0.dist-info/entry_points.txt": "[console_scripts]\ngreeting-serve = greeting:main\n",
    "greeting-1.0.dist-info/RECORD": "",
  });

describe.skipIf(noEngine)("a Python app in its image", () => {
  test("without dependencies it needs no environment of its own, and is process 1 of user 1000", async () => {
    const built = await buildImage({ "main.py": `${server}\nmain()\n` });
    expect(built.plan.install).toBeNull();
    await using container = await Container.start(imageIn(built));
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toEqual({ pid: 1, user: 1000, prefix: expect.stringMatching(/^\/usr(\/local)?$/), folder: "/app" });
    expect(await container.stop()).toBe(7);
    expect(await container.log()).toBe("the app heard SIGTERM as process 1");
  });

  test("pip installs what lies in the archive, and the environment's programs work in the run stage", async () => {
    const built = await buildImage({
      "api/requirements.txt": "./wheels/greeting-1.0-py3-none-any.whl\n",
      "api/wheels/greeting-1.0-py3-none-any.whl": await wheel(),
      "api/Procfile": "web: greeting-serve\n",
      "api/.venv/bin/python": "from another machine",
      "README.md": "",
    });
    expect(built.plan).toMatchObject({ root: "api", install: "pip install -r requirements.txt" });
    await using container = await Container.start(imageIn(built));
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toEqual({ pid: 1, user: 1000, prefix: "/app/.venv", folder: "/app" });
    // pip is the base image's own, by a link, and is still the environment's.
    expect(await container.run("python", "-m", "pip", "--version")).toContain("/app/.venv/lib/");
    expect(await container.run("sh", "-c", "readlink /app/.venv/lib/python*/site-packages/pip")).toMatch(/^\/usr\//);
    expect(await container.has("/app/README.md")).toBe(false);
    expect(await container.stop()).toBe(7);
  });
});
