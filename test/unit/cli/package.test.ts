import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commands } from "../../../cli/commands.ts";
import { buildCli } from "../../../scripts/package/cli.ts";
import { nodePrograms } from "../../harness/node-programs.ts";
import { contractService } from "./contract-service.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "slipway-cli-"));
beforeAll(() => buildCli(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(nodePrograms)("the installed command line runs on %s without any dependency", async (program) => {
  const slipway = (words: string[], env: Record<string, string> = {}) =>
    run(program, [join(folder, "slipway.js"), ...words], { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  const { stdout: help } = await slipway(["--help"]);
  for (const { name } of commands) expect(help).toContain(`  ${name} `);
  await using service = await contractService();
  expect((await slipway(["endpoints"], service.environment)).stdout).toBe("http://127.0.0.1:9/\n");
  const { stdout } = await slipway(["analyze", join(import.meta.dirname, "../../../examples/node-hello")]);
  expect(JSON.parse(stdout)).toMatchObject({ runtime: "nodejs24.x", start: "node server.js" });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const tools = spawn(program, [join(folder, "slipway.js"), "mcp"], { cwd: folder, env: { PATH: process.env.PATH } });
  tools.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const [first] = await once(tools.stdout, "data");
  expect(JSON.parse(String(first)).result.serverInfo.name).toBe("slipway");
  tools.stdin.end();
  expect(await once(tools, "exit")).toEqual([0, null]);
});
