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

/** A package as `python -m build` would pack it. */
const wheel = (name: string, version: string, files: Record<string, string>) =>
  zipOf({
    ...files,
    [`${name}-${version}.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${name}-${version}.dist-info/WHEEL`]:
      "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${name}-${version}.dist-info/RECORD`]: "",
  });
/** One with a program of its own. */
const greeting = () =>
  wheel("greeting", "1.0", {
    "greeting/__init__.py": server,
    "greeting-1.0.dist-info/entry_points.txt": "[console_scripts]\ngreeting-serve = greeting:main\n",
  });
/** A newer pip. */
const newPip = () =>
  wheel("pip", "99.0", { "pip/__init__.py": "", "pip/__main__.py": "print('the new pip of', __file__)\n" });

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
      "api/wheels/greeting-1.0-py3-none-any.whl": await greeting(),
      "api/pip-99.0-py3-none-any.whl": await newPip(),
      "api/Procfile": "web: greeting-serve\n",
      "api/.venv/bin/python": "from another machine",
      "README.md": "",
    });
    expect(built.plan).toMatchObject({ root: "api", install: "pip install -r requirements.txt" });
    await using container = await Container.start(imageIn(built));
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toEqual({ pid: 1, user: 1000, prefix: "/app/.venv", folder: "/app" });
    // pip is the base image's own, and installs into the environment, where an app may replace it while it runs.
    expect(await container.run("python", "-m", "pip", "--version")).toMatch(/ from \/usr\/\S+\/pip /);
    expect(await container.run("sh", "-c", "echo /app/.venv/lib/python*/site-packages/pip*")).toContain(
      "*/site-packages/pip*",
    );
    await container.run("pip", "install", "--upgrade", "--no-index", "--find-links=/app", "pip");
    expect(await container.run("python", "-m", "pip")).toMatch(/^the new pip of \/app\/\.venv\/lib\//);
    expect(await container.has("/app/README.md")).toBe(false);
    expect(await container.stop()).toBe(7);
  });
});
