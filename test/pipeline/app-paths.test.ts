import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy, nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

/** The part of a Unix socket's 107 characters that is reserved for the app's own path. */
const ownCharacters = 40;

describe("the folder that an app runs in", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
  });
  afterAll(() => running.stop());

  test("is short enough for the app's Unix sockets", async () => {
    expect((await deploy(running, nodeApp("res.end(__dirname)"))).status).toBe("ready");
    const folder = await (await fetch(await address(running))).text();
    expect(folder.length - running.home.length).toBeLessThanOrEqual(
      107 - ownCharacters - "/home/somebody/work/shop/.slipway".length,
    );
  });

  test("is /app in what the app prints and in its errors", async () => {
    const app = nodeApp("", "console.log('in ' + __dirname + '.'); throw new Error('no luck');");
    const build = await deploy(running, app);
    expect(build.error).toMatch(/at Object\.<anonymous> \(\/app\/server\.js:2:\d+\)/);
    expect(build.error).not.toContain(running.home);
    const { body } = await running.call("GET", `${running.project}/builds/${build.id}/logs`);
    expect(body.lines.map(({ text }: { text: string }) => text)).toContain("in /app.");
  });

  test("is /app in what a build prints", async () => {
    const scripts = { start: "node server.js", build: "pwd && node -e 'process.exit(3)'" };
    const files = { ...nodeApp(""), "package.json": JSON.stringify({ name: "app", private: true, scripts }) };
    const build = await deploy(running, files);
    expect(build.error).toContain("npm run build failed with exit code 3");
    const { body } = await running.call("GET", `${running.project}/builds/${build.id}/logs`);
    expect(body.lines.map(({ text }: { text: string }) => text)).toContain("/app");
    expect(JSON.stringify(body)).not.toContain(running.home);
  });
});
