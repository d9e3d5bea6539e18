import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { address, begin, deploy, finished, nodeApp, reaches } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "settings-"));
  running = await startRunning();
  const variable = { name: "DATABASE_PASSWORD", value: "correct horse battery" };
  expect((await running.call("POST", `${running.project}/environments`, { body: variable })).status).toBe(201);
});
afterAll(async () => {
  await running.stop();
  rmSync(dir, { recursive: true, force: true });
});

const withSettings = (settings: object, files = nodeApp('res.end("app")')) => ({
  ...files,
  "slipway.json": JSON.stringify(settings),
});
async function linesOf(id: string): Promise<{ stage: string; text: string }[]> {
  return (await running.call("GET", `${running.project}/builds/${id}/logs?limit=1000`)).body.lines;
}

let released: { id: string };

test("a release command runs once in the new image, before the new version, with its output masked in the log; meanwhile the build is deploying and cannot be canceled", async () => {
  const ran = join(dir, "ran");
  const go = join(dir, "go");
  const releaseCommand = `node migrate.js && while [ ! -e ${go} ]; do sleep 0.05; done && echo released >> ${ran}`;
  const files = withSettings(
    { releaseCommand, startCommand: "node server.js $PORT" },
    {
      "package.json": "{}",
      "migrate.js": 'console.log("password", process.env.DATABASE_PASSWORD); console.log("migrated", process.cwd());',
      "server.js": `require("fs").appendFileSync("${ran}", "served\\n"); require("http").createServer((q, r) => r.end("released")).listen(process.argv[2]);`,
    },
  );
  const id = await begin(running, files);
  await reaches(running, id, "deploying");
  const refused = await running.call("POST", `${running.project}/builds/${id}/cancel`);
  expect(refused).toMatchObject({ status: 409, body: { code: "build_deploying" } });
  // Time in which a version that does not wait for the command would start.
  await sleep(1_000);
  expect(existsSync(ran)).toBe(false);
  writeFileSync(go, "");
  const build = await finished(running, id);
  expect(build).toMatchObject({ status: "ready", error: null });
  expect(readFileSync(ran, "utf8")).toBe("released\nserved\n");
  const output = (await linesOf(build.id)).filter(({ stage }) => stage === "releasing").map(({ text }) => text);
  expect(output).toEqual(["password [masked]", "migrated /app"]);
  expect(build.detected).toMatchObject({ rootDirectory: "", packageManager: "npm", startCommand: "node server.js" });
  expect(build.findings.map(({ message }: { message: string }) => message)).toEqual([
    "startCommand comes from slipway.json.",
    "releaseCommand comes from slipway.json.",
  ]);
  expect(await (await fetch(await address(running))).text()).toBe("released");
  released = build;
});

test("a release command that fails ends the build with its last output, and nothing was swapped", async () => {
  const command = "echo cannot add column; echo $DATABASE_PASSWORD; exit 3";
  const build = await deploy(running, withSettings({ releaseCommand: command }));
  expect(build).toMatchObject({ status: "error", isLive: false });
  expect(build.error).toBe(
    "The release command ended with exit code 3, so the previous version keeps serving.\nLast output:\ncannot add column\n[masked]",
  );
  expect(await (await fetch(await address(running))).text()).toBe("released");
  const { body } = await running.call("GET", `${running.project}/builds/${released.id}`);
  expect(body.build.isLive).toBe(true);
  const stages = new Set((await linesOf(build.id)).map(({ stage }) => stage));
  expect([...stages]).toEqual(["building", "releasing"]);
});

test("several instances serve, at the health path that was set", async () => {
  const code = `if (req.url === "/") { res.statusCode = 500; return res.end(); } res.end(req.url === "/health" ? "up" : String(process.pid));`;
  const build = await deploy(
    running,
    withSettings({ instances: 3, healthPath: "/health", memory: 1024 }, nodeApp(code)),
  );
  expect(build).toMatchObject({ status: "ready", warning: null });
  const url = await address(running);
  const pids = new Set<string>();
  for (let tries = 0; tries < 12; tries += 1) pids.add(await (await fetch(`${url}/pid`)).text());
  expect(pids.size).toBe(3);

  const wrong = await deploy(
    running,
    withSettings({ healthPath: "/missing" }, nodeApp("res.statusCode = 404; res.end();")),
  );
  expect(wrong.warning).toContain("GET /missing answered 404");
  expect(wrong.warning).toContain("healthPath");
});

test("settings of the project hold from its next build on; a rollback restores all instances, and fewer are left by the next", async () => {
  const set = async (settings: object) =>
    expect((await running.call("PUT", running.project, { body: { settings } })).status).toBe(200);
  const pids = async () => {
    const url = await address(running);
    const found = new Set<string>();
    for (let tries = 0; tries < 9; tries += 1) found.add(await (await fetch(`${url}/pid`)).text());
    return found;
  };
  const app = nodeApp('res.end(req.url === "/pid" ? String(process.pid) : "up");');
  await set({ instances: 3, healthPath: "/health" });
  const three = await deploy(running, app);
  expect(three).toMatchObject({ status: "ready", warning: null });
  expect(three.findings.map(({ code }: { code: string }) => code)).toEqual(["setting", "setting"]);
  const before = await pids();
  expect(before.size).toBe(3);

  await set({ instances: 1 });
  const failed = await deploy(running, nodeApp("", "process.exit(4);"));
  expect(failed).toMatchObject({ status: "error", isLive: false });
  expect(await pids()).toEqual(before);

  expect(await deploy(running, app)).toMatchObject({ status: "ready" });
  expect((await pids()).size).toBe(1);
  await set({ instances: null, healthPath: null });
});

const examples = join(import.meta.dirname, "..", "..", "examples");
function exampleFiles(name: string): Record<string, string> {
  const paths = readdirSync(join(examples, name), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  return Object.fromEntries(
    paths.map((one) => {
      const path = join(one.parentPath, one.name);
      return [relative(join(examples, name), path), readFileSync(path, "utf8")];
    }),
  );
}

test.each([
  ["monorepo", /^Hello from apps\/web\n$/],
  ["release-command", /^Schema version 2\n$/],
  ["three-instances", /^\d+\n$/],
])("the example %s is deployed as it is", async (name, answer) => {
  expect(await deploy(running, exampleFiles(name))).toMatchObject({ status: "ready", error: null, warning: null });
  expect(await (await fetch(await address(running))).text()).toMatch(answer);
});

test("a broken slipway.json ends the build with a message that names file, field and rule", async () => {
  const build = await deploy(running, withSettings({ instances: 0 }));
  expect(build).toMatchObject({
    status: "error",
    error:
      "slipway.json (line 1) breaks a rule: instances must be an integer from 1 to 10, or null. Correct it and deploy again.",
  });
});

test("output stays masked with the values that its build was made with", async () => {
  const build = await deploy(
    running,
    nodeApp("", 'console.log("uses", process.env.DATABASE_PASSWORD); process.exit(1);'),
  );
  const { body } = await running.call("GET", `${running.project}/environments`);
  const [{ id }] = body.environments;
  const path = `${running.project}/environments/${id}`;
  expect((await running.call("PUT", path, { body: { value: "another value" } })).status).toBe(200);
  expect((await linesOf(build.id)).map(({ text }) => text)).toContain("uses [masked]");
  expect((await running.call("DELETE", path)).status).toBe(200);
  expect((await linesOf(build.id)).map(({ text }) => text)).toContain("uses [masked]");
});
