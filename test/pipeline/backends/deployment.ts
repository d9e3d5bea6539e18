import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, begin, deploy, finished, nodeApp, reaches, upload, zipOf } from "../../harness/app.ts";
import type { Running } from "../../harness/service.ts";
import { startTraffic } from "../../harness/traffic.ts";

const says = (text: string) => nodeApp(`res.end(${JSON.stringify(text)})`);
const body = async (url: string) => (await fetch(url)).text();

/** Deployments of one project that was never deployed, with a service whose apps run as processes or in containers. */
export function deploymentTests(start: () => Promise<Running>): void {
  let running: Running;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running.stop());

  const isFree = async () => {
    const created = await running.call("POST", `${running.project}/builds`);
    expect(created.status).toBe(201);
    await running.call("POST", `${running.project}/builds/${created.body.build.id}/cancel`);
  };

  test("a failed first deployment leaves nothing running, reports the reason, and releases the project's lock", async () => {
    const build = await deploy(running, nodeApp("", "console.log('no luck'); process.exit(3);"));
    expect(build).toMatchObject({ status: "error", isLive: false, runtime: "nodejs24.x" });
    expect(build.error).toContain("nothing is running");
    expect(build.error).toContain("exited with code 3");
    expect(build.error).toContain("no luck");
    const rebuild = await running.call("POST", `${running.project}/rebuild`);
    expect(rebuild).toMatchObject({ status: 409, body: { code: "never_deployed" } });
    await isFree();
  });

  test("a good zip becomes ready, is live, and answers at the project's address", async () => {
    const build = await deploy(running, says("first"), "  The first  ");
    expect(build).toMatchObject({
      title: "The first",
      status: "ready",
      runtime: "nodejs24.x",
      isLive: true,
      warning: null,
      suggestion: null,
      error: null,
      canceledAt: null,
    });
    expect(build.size).toBeGreaterThan(100);
    expect(await body(await address(running))).toBe("first");
    const { body: list } = await running.call("GET", `${running.project}/builds?limit=1`);
    expect(list.builds[0]).toMatchObject({ id: build.id, isLive: true, canRedeploy: false, redeployBlockedBy: "live" });
    expect(list.redeployAvailability).toEqual({ status: "available" });
  });

  test("a new version replaces the old one without a failed request", async () => {
    // More often than usual, because a deployment takes less than 200 ms.
    const traffic = startTraffic(await address(running), 5);
    const build = await deploy(running, says("second"));
    await traffic.sees("second");
    const seen = await traffic.stop();
    expect(build.status).toBe("ready");
    expect(seen.failures).toEqual([]);
    expect([...seen.bodies]).toEqual(["first", "second"]);
    expect(seen.total).toBeGreaterThan(10);
  });

  const bad: [string, Record<string, string>, RegExp][] = [
    [
      "exits",
      nodeApp("", "console.error('cannot start: missing setting'); process.exit(1);"),
      /exited with code 1 .*[\s\S]*missing setting/,
    ],
    ["exits with 0", nodeApp("", "console.log('done'); process.exit(0);"), /exited with code 0/],
  ];
  test.each(bad)("an app that %s is rolled back and the old version keeps serving", async (_, files, reason) => {
    const traffic = startTraffic(await address(running));
    const build = await deploy(running, files);
    const seen = await traffic.stop();
    expect(build).toMatchObject({ status: "error", isLive: false });
    expect(build.error).toMatch(reason);
    expect(build.error).toContain("the previous version keeps serving");
    expect(seen.failures).toEqual([]);
    expect([...seen.bodies]).toEqual(["second"]);
    const { body: list } = await running.call("GET", `${running.project}/builds`);
    expect(list.builds.filter((one: { isLive: boolean }) => one.isLive)).toHaveLength(1);
    await isFree();
  });

  test("an app that answers 404 at / becomes ready with a warning; with 401 it becomes ready without one", async () => {
    const warned = await deploy(running, nodeApp("res.statusCode = 404; res.end('no page')"));
    expect(warned).toMatchObject({ status: "ready" });
    expect(warned.warning).toContain("404");
    const guarded = await deploy(running, nodeApp("res.statusCode = 401; res.end('who?')"));
    expect(guarded).toMatchObject({ status: "ready", warning: null });
  });

  test("variables reach the app unchanged, but only after a rebuild", async () => {
    const values: Record<string, string> = {
      NEWLINES: "one\ntwo\r\nthree\n",
      QUOTES: `"double" 'single' \`back\``,
      DOLLAR: "$HOME ${HOME} $(id) $$",
      BACKSLASH: "C:\\new\\table\\",
      EMOJI: "😀 ünï ☃",
      PEM: "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n",
      SPACES: "  leading and trailing  ",
      EMPTY: "",
      LARGE: "x".repeat(32 * 1024),
    };
    const app = nodeApp(
      `res.end(JSON.stringify(Object.fromEntries(${JSON.stringify(Object.keys(values))}.map((k) => [k, process.env[k] ?? null]))))`,
    );
    const first = await deploy(running, app);
    expect(first.status).toBe("ready");
    for (const [name, value] of Object.entries(values)) {
      const stored = await running.call("POST", `${running.project}/environments`, { body: { name, value } });
      expect(stored.status).toBe(201);
    }
    const url = await address(running);
    expect(Object.values(JSON.parse(await body(url)))).toEqual(Object.keys(values).map(() => null));
    const rebuild = await running.call("POST", `${running.project}/rebuild`);
    expect(rebuild).toMatchObject({ status: 201, body: { build: { status: "pending", runtime: null, size: null } } });
    expect((await finished(running, rebuild.body.build.id)).status).toBe("ready");
    expect(JSON.parse(await body(url))).toEqual(values);
  });

  test("redeploy runs an earlier build's archive again, with its title", async () => {
    const { body: list } = await running.call("GET", `${running.project}/builds`);
    const second = list.builds.find((one: { title: string | null }) => one.title === "The first");
    expect(second.canRedeploy).toBe(true);
    const again = await running.call("POST", `${running.project}/builds/${second.id}/redeploy`);
    expect(again).toMatchObject({ status: 201, body: { build: { status: "pending", title: "The first" } } });
    const conflict = await running.call("POST", `${running.project}/rebuild`);
    expect(conflict).toMatchObject({ status: 409, body: { status: "Conflict", build: { id: again.body.build.id } } });
    expect((await finished(running, again.body.build.id)).status).toBe("ready");
    expect(await body(await address(running))).toBe("first");
    const live = await running.call("POST", `${running.project}/builds/${again.body.build.id}/redeploy`);
    expect(live).toMatchObject({ status: 409, body: { code: "build_already_live" } });
  });

  test("an early, a repeated or a late upload does not break the build", async () => {
    const created = await running.call("POST", `${running.project}/builds`);
    const bytes = await zipOf(says("raced"));
    await Promise.all([upload(created.body.url, bytes), upload(created.body.url, bytes)]);
    const build = await finished(running, created.body.build.id);
    expect(build.status).toBe("ready");
    expect((await upload(created.body.url, await zipOf(says("too late")))).status).toBe(200);
    await sleep(300);
    expect(await body(await address(running))).toBe("raced");
    await isFree();
  });

  test("an invalid archive ends the build with an error", async () => {
    const created = await running.call("POST", `${running.project}/builds`);
    await upload(created.body.url, Buffer.from("this is no zip"));
    const build = await finished(running, created.body.build.id);
    expect(build).toMatchObject({ status: "error", runtime: null, size: 14 });
    expect(build.error).toMatch(/zip/i);
    await isFree();
  });

  test("a failing build command ends the build with its last output in the error", async () => {
    const files = {
      ...says("x"),
      "package.json": JSON.stringify({
        name: "app",
        scripts: {
          start: "node server.js",
          build: "node -e \"console.log('compiling'); console.error('type error in x.ts'); process.exit(2)\"",
        },
      }),
    };
    const build = await deploy(running, files);
    expect(build.status).toBe("error");
    expect(build.error).toContain("type error in x.ts");
    const { body: logs } = await running.call("GET", `${running.project}/builds/${build.id}/logs`);
    // BuildKit writes the step and the time before a line.
    expect(logs.lines.map((line: { text: string }) => line.text.replace(/^#\d+ [\d.]+ /, ""))).toContain("compiling");
    await isFree();
  });

  test("a build that is canceled while it is built keeps its status, and the next one can start at once", async () => {
    const files = {
      ...says("slow"),
      "package.json": JSON.stringify({
        name: "app",
        scripts: { start: "node server.js", build: 'node -e "setTimeout(() => {}, 1500)"' },
      }),
    };
    const id = await begin(running, files);
    await reaches(running, id, "building");
    const canceled = await running.call("POST", `${running.project}/builds/${id}/cancel`);
    expect(canceled).toMatchObject({ status: 200, body: { build: { status: "building" } } });
    expect(canceled.body.build.canceledAt).toMatch(/^\d{4}-.*Z$/);
    const next = await deploy(running, says("after"));
    expect(next.status).toBe("ready");
    await sleep(1_800);
    const { body: after } = await running.call("GET", `${running.project}/builds/${id}`);
    expect(after.build).toMatchObject({
      status: "building",
      canceledAt: canceled.body.build.canceledAt,
      isLive: false,
    });
    expect(await body(await address(running))).toBe("after");
  });
}
