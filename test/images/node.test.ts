import { describe, expect, test } from "vitest";
import { Container } from "./container.ts";
import { noEngine } from "./engine.ts";
import { buildImage, imageIn } from "./image.ts";
import { manifest, npmLock, pnpmLock, server } from "./node-app.ts";

describe.skipIf(noEngine)("a Node.js app in its image", () => {
  test("npm with a lock: the locked packages, not what the archive brought; process 1 of user 1000 gets SIGTERM", async () => {
    const built = await buildImage({
      "package.json": { ...manifest, scripts: { start: "node server.js" } },
      "package-lock.json": npmLock,
      "server.js": server,
      ".dockerignore": "server.js\n",
      ".git/config": "secret",
      "node_modules/is-number/package.json": { name: "is-number", version: "0.0.1", main: "broken.js" },
      "node_modules/own/index.js": "",
      "grüße/日本.txt": "",
    });
    const image = imageIn(built);
    expect(built.plan.install).toBe("npm ci");
    expect(image.digest).toMatch(/^sha256:/);
    expect(image.config).toMatchObject({ User: "1000", WorkingDir: "/app", StopSignal: "SIGTERM" });
    await using container = await Container.start(image);
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toMatchObject({ pid: 1, user: 1000, folder: "/app", isNumber: true });
    expect(answer.env).toMatchObject({ PORT: "8080", HOST: "0.0.0.0", NODE_ENV: "production", HOME: "/app" });
    const paths = [".git", "node_modules/own", ".dockerignore", "grüße/日本.txt"];
    expect(await Promise.all(paths.map((path) => container.has(`/app/${path}`)))).toEqual([false, false, true, true]);
    expect(await container.stop()).toBe(7);
    expect(await container.log()).toBe("the app heard SIGTERM as process 1");
  });

  test("npm without a lock: the build sees the sources, a prestart runs before the app and may write, and the app is process 1", async () => {
    const prestart =
      'require("node:fs").writeFileSync("prepared.txt", `by ${process.getuid()}`); console.log("prepared");';
    const built = await buildImage({
      "package.json": {
        ...manifest,
        scripts: {
          prestart: "node prepare.js",
          start: "FLAG=on node --enable-source-maps dist/server.js",
          build: "mkdir -p dist && cp server.js dist/server.js",
        },
      },
      "prepare.js": prestart,
      "server.js": server,
    });
    expect(built.plan.install).toBe("npm install");
    await using container = await Container.start(imageIn(built));
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toMatchObject({ pid: 1, user: 1000, isNumber: true, env: { FLAG: "on" } });
    expect(await container.read("/app/prepared.txt")).toBe("by 1000");
    expect(await container.has("/root/.cache")).toBe(false);
    expect(await container.stop()).toBe(7);
    expect(await container.log()).toBe("prepared\nthe app heard SIGTERM as process 1");
  });

  test("pnpm: the lock is obeyed, and a start that calls pnpm itself finds it in the image", async () => {
    const built = await buildImage({
      "package.json": { ...manifest, scripts: { start: "pnpm exec node server.js" } },
      "pnpm-lock.yaml": pnpmLock,
      "server.js": server,
    });
    expect(built.plan.install).toBe("pnpm install --frozen-lockfile");
    await using container = await Container.start(imageIn(built));
    const answer = JSON.parse((await container.get("/")).body);
    expect(answer).toMatchObject({ user: 1000, isNumber: true });
    expect(await container.stop()).toBe(7);
  });

  test("a file that is named like the program of the start command stays a file", async () => {
    const built = await buildImage({
      "package.json": { ...manifest, scripts: { start: "node server.js" } },
      "server.js": server,
      node: "not a program",
    });
    await using container = await Container.start(imageIn(built));
    expect(JSON.parse((await container.get("/")).body)).toMatchObject({ pid: 1 });
  });

  test("a single-page app: only its built files and their server are in the image", async () => {
    const built = await buildImage({
      "package.json": { scripts: { build: "vite build" }, devDependencies: { vite: "^7.0.0" } },
      "index.html": '<!doctype html><title>App</title><script type="module" src="/main.js"></script>',
      "main.js": 'document.title = "built";',
    });
    await using container = await Container.start(imageIn(built));
    const page = await container.get("/some/page", { accept: "text/html" });
    expect(page).toMatchObject({ status: 200, type: "text/html; charset=utf-8" });
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.body)?.[1] ?? "";
    expect(await container.get(script)).toMatchObject({ status: 200, type: "text/javascript; charset=utf-8" });
    expect(await container.has("/app/package.json")).toBe(false);
    expect(await container.stop()).toBe(0);
  });
});
