import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { contractService, type Script } from "./contract-service.ts";
import { onTerminal } from "./pseudo-terminal.ts";
import { folderWith, installed } from "./slipway.ts";

const hasPython = spawnSync("python3", ["-c", "import pty, os; os.waitstatus_to_exitcode"]).status === 0;
const app = { "package.json": "{}", "server.js": "//" };
const csi = "\u001b[";

async function deployOnTerminal(script: Script, more: Partial<Parameters<typeof onTerminal>[1]> = {}) {
  await using service = await contractService(script);
  using folder = folderWith(app);
  const environment = { ...service.environment, TERM: "xterm", SLIPWAY_CACHE: folder.path, ...more.environment };
  const words = [process.execPath, await installed(), "deploy", folder.path];
  return { ...(await onTerminal(words, { ...more, environment })), calls: service.calls() };
}

// Python is there wherever Node.js is built, but the tests need no more than Node.js.
describe.skipIf(!hasPython)("on a terminal", () => {
  const statuses = ["pending", "building", "building", "building"].map((status) => ({ status }));
  const succeeds = { statuses: [...statuses, { status: "ready" }] };

  test("a deployment shows a moving line in colors, and leaves only the lines that matter", async () => {
    const { code, output } = await deployOnTerminal(succeeds);
    expect(code).toBe(0);
    expect(output).toContain(`\r${csi}K`);
    expect(output).toContain(`${csi}32m`);
    expect(output).toMatch(/Ready after /);
    expect(output.trimEnd().split("\r\n").at(-1)).toContain("http://127.0.0.1:9/");
  });

  test("NO_COLOR and a dumb terminal are respected", async () => {
    const plain = await deployOnTerminal(succeeds, { environment: { NO_COLOR: "1" } });
    expect([plain.code, plain.output.includes(`${csi}32m`)]).toEqual([0, false]);
    const dumb = await deployOnTerminal(succeeds, { environment: { TERM: "dumb" } });
    expect([dumb.code, dumb.output.includes(csi)]).toEqual([0, false]);
  });

  test("a moving line never breaks in a narrow terminal", async () => {
    const { output } = await deployOnTerminal(succeeds, { columns: 20 });
    const moving = output
      .split(`\r${csi}K`)
      .slice(1)
      .map((part) => part.split("\r\n")[0] ?? "");
    const lines = moving.filter((line) => line.includes("Uploading") || line.includes(" … "));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(stripVTControlCharacters(line).length).toBeLessThan(20);
  });

  test("Ctrl-C cancels the build", async () => {
    const { code, output, calls } = await deployOnTerminal(
      { statuses: [{ status: "building" }] },
      { keys: [{ after: "building", keys: "\u0003" }] },
    );
    expect([code, output]).toEqual([130, expect.stringContaining("Canceled build bld_1.")]);
    expect(calls).toContain("POST /builds/bld_1/cancel");
  });
});
