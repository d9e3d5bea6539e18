import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy } from "../../harness/app.ts";
import { type Running, startRunning } from "../../harness/service.ts";
import { exampleFiles, noNpmExamplesBecause } from "./example.ts";

const because = noNpmExamplesBecause();
const title = `example deployments of Node.js apps${because === null ? "" : ` (skipped: ${because})`}`;

describe.skipIf(because !== null)(title, () => {
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
  });
  afterAll(() => running.stop());

  test("an Express app is installed from its lock file and answers with its middleware", async () => {
    const build = await deploy(running, exampleFiles("express"));
    expect(build).toMatchObject({
      status: "ready",
      runtime: "nodejs24.x",
      suggestion: null,
      warning: null,
      error: null,
    });
    const url = await address(running);
    const home = await fetch(url);
    expect([home.status, await home.text()]).toEqual([200, "hello from Express"]);
    expect(home.headers.get("x-request-path")).toBe("/");
    const order = (body: string) =>
      fetch(`${url}/orders`, { method: "POST", headers: { "content-type": "application/json" }, body });
    const ordered = await order('{"title":"a boat"}');
    expect([ordered.status, await ordered.json()]).toEqual([201, { ordered: "a boat" }]);
    const broken = await order("{");
    expect([broken.status, await broken.json()]).toEqual([400, { error: "entity.parse.failed" }]);
    expect(await (await fetch(`${url}/files/note.txt`)).text()).toBe("a file\n");
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });

  test("a Vite app is built with the project's variables and served as files", async () => {
    const variable = { name: "VITE_SHOP", value: "the shop of boats" };
    expect((await running.call("POST", `${running.project}/environments`, { body: variable })).status).toBe(201);
    const build = await deploy(running, exampleFiles("vite"));
    expect(build).toMatchObject({ status: "ready", runtime: "nodejs24.x", warning: null, error: null });
    expect(build.suggestion).toMatch(/^package\.json:1: .*package-lock\.json/);

    const url = await address(running);
    const page = await fetch(`${url}/orders/7`, { headers: { accept: "text/html" } });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(html).toContain("<title>Vite example</title>");

    const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    const code = await fetch(url + script);
    expect(code.headers.get("content-type")).toMatch(/javascript/);
    expect(code.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await code.text()).toContain("built as production for the shop of boats");
    const [, style = ""] = /href="(\/assets\/[^"]+\.css)"/.exec(html) ?? [];
    expect(await (await fetch(url + style)).text()).toMatch(/color:(rebeccapurple|#639)/);

    const robots = await fetch(`${url}/robots.txt`);
    expect([await robots.text(), robots.headers.get("cache-control")]).toEqual(["User-agent: *\n", "no-cache"]);
    expect((await fetch(`${url}/assets/gone.js`)).status).toBe(404);
    expect((await fetch(`${url}/orders/7`, { headers: { accept: "application/json" } })).status).toBe(404);
    expect((await fetch(`${url}/src/main.js`)).status).toBe(404);
  });
});
