import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { address, deploy } from "../../harness/app.ts";
import { type Running, startRunning } from "../../harness/service.ts";
import { lineOfDebianPython, noPythonExamplesBecause, wheelsOf } from "./debian-python.ts";
import { exampleFiles } from "./example.ts";

const line = await lineOfDebianPython();
const because = noPythonExamplesBecause(line);
const title = `example deployments of Python apps${because === null ? "" : ` (skipped: ${because})`}`;

describe.skipIf(because !== null)(title, () => {
  const asked = {
    runtime: `python${line}`,
    warning: expect.stringContaining(`Python ${line} is not installed on this machine`),
  };
  const version = { ".python-version": `${line}\n` };
  let running: Running;
  beforeAll(async () => {
    running = await startRunning();
  });
  afterAll(() => running.stop());

  test("a FastAPI app answers through uvicorn, with input validation and OpenAPI description", async () => {
    const wheels = wheelsOf("python3-fastapi", "python3-uvicorn");
    const build = await deploy(running, { ...exampleFiles("fastapi"), ...wheels, ...version });
    expect(build).toMatchObject({ ...asked, status: "ready", suggestion: null, error: null });
    const url = await address(running);
    const home = await fetch(url);
    expect(await home.json()).toEqual({ greeting: "hello from FastAPI" });
    expect(home.headers.get("server")).toBe("uvicorn");
    const order = (body: object) =>
      fetch(`${url}/orders`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const ordered = await order({ title: "a boat", pieces: 2 });
    expect([ordered.status, await ordered.json()]).toEqual([201, { ordered: "a boat", pieces: 2 }]);
    expect((await order({ pieces: 2 })).status).toBe(422);
    const description = await (await fetch(`${url}/openapi.json`)).json();
    expect(description).toMatchObject({ info: { title: "Orders" }, paths: { "/orders": {} } });
    expect(await (await fetch(`${url}/docs`)).text()).toContain("swagger-ui");
  });

  // Much the same as above, for SLIPWAY_TESTS=all only.
  test.runIf(process.env.SLIPWAY_TESTS === "all")(
    "a Django app's static files are collected, and gunicorn is added to serve it",
    async () => {
      const variable = { name: "DJANGO_SECRET_KEY", value: "known to this test only" };
      expect((await running.call("POST", `${running.project}/environments`, { body: variable })).status).toBe(201);
      const wheels = wheelsOf("python3-django", "python3-gunicorn");
      const build = await deploy(running, { ...exampleFiles("django"), ...wheels, ...version });
      expect(build).toMatchObject({ ...asked, status: "ready", error: null });
      expect(build.suggestion).toMatch(
        /^manage\.py:1: The app is served by gunicorn, which is not one of its dependencies, so its newest version is added/,
      );
      const url = await address(running);
      const page = await fetch(`${url}/?title=${encodeURIComponent("<a boat>")}`);
      const html = await page.text();
      expect(page.headers.get("server")).toBe("gunicorn");
      expect(html).toContain("ordered: &lt;a boat&gt;");
      const [, style = ""] = /href="(\/static\/style\.\w{12}\.css)"/.exec(html) ?? [];
      expect(await (await fetch(url + style)).text()).toBe("p { color: teal; }\n");
      expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    },
  );
});
