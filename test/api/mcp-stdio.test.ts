import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appFolder } from "../../cli/mcp/local-tools.ts";
import { nodeApp } from "../harness/app.ts";
import { type Running, startRunning } from "../harness/service.ts";

const root = new URL("../..", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "slipway-mcp-"));
let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(async () => {
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes an app into a folder and returns the folder's name. */
function appIn(name: string, files: Record<string, string>): string {
  mkdirSync(join(folder, name));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, name, path), text);
  return name;
}

function program(environment: Record<string, string> = {}) {
  const { baseUrl: SLIPWAY_URL, token: SLIPWAY_TOKEN, projectId: SLIPWAY_PROJECT } = running.seed;
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  return {
    command: process.execPath,
    args: [join(root, "cli/main.ts"), "mcp"],
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder, SLIPWAY_URL, SLIPWAY_TOKEN, SLIPWAY_PROJECT, ...environment },
    stderr: "pipe" as const,
  };
}

async function connected(environment: Record<string, string> = {}, mode: "legacy" | "auto" = "legacy") {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport(program(environment));
  const notes: string[] = [];
  transport.stderr?.on("data", (piece: Buffer) => notes.push(piece.toString()));
  await client.connect(transport);
  return {
    client,
    notes,
    call: async (name: string, args: Record<string, unknown>, options = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: args }, options);
      const [first] = content;
      return { text: first?.type === "text" ? first.text : "", isError: isError ?? false };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const dataIn = (text: string) => JSON.parse(/\n<(data-[\w-]+)>\n([\s\S]*)\n<\/\1>$/.exec(text)?.[2] ?? "null");

test("a folder is analyzed and deployed, and a failure comes with its evidence", async () => {
  const app = appIn("app", { ...nodeApp('res.end("from a folder")'), ".env": "SECRET=hunter2" });
  const broken = appIn("broken", nodeApp("", 'console.error("Error: GREETING is not set"); process.exit(3);'));
  await using mcp = await connected();
  const { tools } = await mcp.client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names.slice(0, 2)).toEqual(["deploy", "analyze"]);
  expect(names).toEqual(expect.arrayContaining(["get_build", "change_table", "list_projects"]));
  expect(JSON.stringify(tools).length / 4).toBeLessThan(3_000);
  const { prompts } = await mcp.client.listPrompts();
  expect(prompts.map(({ name }) => name).sort()).toEqual(["deploy_this_folder", "explain_failed_build"]);

  const report = dataIn((await mcp.call("analyze", { folder: app })).text);
  expect(report).toMatchObject({ path: "app", runtime: "nodejs24.x", start: "node server.js", error: null });

  const steps: (string | undefined)[] = [];
  const onprogress = ({ message }: { message?: string }) => steps.push(message);
  const live = await mcp.call("deploy", { folder: app, title: "by an agent" }, { onprogress });
  const address = /^Build bld_\w+ is live at (http\S+)\n/.exec(live.text)?.[1] ?? "";
  expect([live.isError, await (await fetch(address)).text()]).toEqual([false, "from a folder"]);
  expect(live.text).toContain(".env");
  expect(live.text).not.toContain("hunter2");
  expect(dataIn(live.text).build).toMatchObject({ status: "ready", title: "by an agent" });
  expect(steps).toEqual(expect.arrayContaining(["packing", "uploading"]));

  const failed = await mcp.call("deploy", { folder: broken });
  expect([failed.isError, failed.text]).toEqual([
    true,
    expect.stringMatching(/^Build bld_\w+ failed\.\nThe build failed\. Next step: Set the var/),
  ]);
  expect(dataIn(failed.text).diagnosis).toMatchObject({ stage: "deploying", exitCode: 3 });
}, 60_000);

test("the service's own tools and errors pass through, for clients of the current specification too", async () => {
  await using mcp = await connected({}, "auto");
  expect(mcp.client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  expect(dataIn((await mcp.call("list_projects", {})).text).projects).toHaveLength(1);
  const refused = await mcp.call("get_build", { projectId: running.seed.projectId, buildId: "bld_none" });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("not_found")]);
  await expect(mcp.call("no_such_tool", {})).rejects.toThrow(/no_such_tool/);
  await expect(mcp.call("deploy", { folder: ".", bogus: 1 })).rejects.toThrow(/bogus/);
  const missing = await mcp.call("deploy", { folder: "nowhere" });
  expect([missing.isError, missing.text]).toEqual([true, expect.stringContaining("There is no folder")]);
});

test("the client of the first version works too", async () => {
  const client = new OldClient({ name: "test", version: "1" });
  await client.connect(new OldStdioClientTransport(program()));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["deploy", "analyze", "get_build"]));
  const answer = await client.callTool({ name: "list_projects", arguments: {} });
  expect(JSON.stringify(answer)).toContain(running.seed.projectId);
  await client.close();
});

test("without the service, folders can still be analyzed, and everything else says what is wrong", async () => {
  appIn("alone", nodeApp("res.end()"));
  await using mcp = await connected({ SLIPWAY_URL: "http://127.0.0.1:9" });
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["deploy", "analyze"]);
  expect(mcp.notes.join("")).toMatch(/^The service's tools are missing: The service at .* could not be reached/);
  expect(dataIn((await mcp.call("analyze", { folder: "alone" })).text)).toMatchObject({ runtime: "nodejs24.x" });
  const deployed = await mcp.call("deploy", { folder: "alone" });
  expect([deployed.isError, deployed.text]).toEqual([true, expect.stringContaining("could not be reached")]);
  await expect(mcp.call("list_projects", {})).rejects.toThrow(/could not be reached/);
});

test("a folder with a user's own things is not published", () => {
  const home = mkdtempSync(join(folder, "home-"));
  for (const name of [".ssh", "project/.next"]) mkdirSync(join(home, name), { recursive: true });
  for (const named of [home, join(home, ".."), join(home, ".ssh"), "/"]) {
    expect(() => appFolder(root, named, home), named).toThrow(/is not the folder of an app/);
  }
  expect(appFolder(root, join(home, "project"), home)).toMatch(/project$/);
  expect(appFolder(join(home, ".ssh"), ".", home)).toMatch(/\.ssh$/);
});
