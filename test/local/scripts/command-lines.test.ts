import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const home = mkdtempSync(join(tmpdir(), "slipway-lines-"));
afterAll(() => rmSync(home, { recursive: true }));

const run = (script: string, args: string[], env: Record<string, string> = {}) =>
  spawnSync("node", ["--disable-warning=ExperimentalWarning", script, ...args], {
    env: { ...process.env, SLIPWAY_HOME: home, ...env },
    encoding: "utf8",
    timeout: 15_000,
  });

describe("the operator's command line", () => {
  test.each([
    ["nothing", []],
    ["an unknown option", ["create-user", "{}", "--bogus"]],
    ["an option without its value", ["create-user", "{}", "--stack"]],
    ["more than one input", ["create-user", "{}", "{}"]],
    ["what is not JSON", ["create-user", "{email"]],
  ])("%s is the caller's mistake: one JSON object on stderr, exit 1", (_, args) => {
    const { status, stdout, stderr } = run("scripts/operator.ts", args);
    expect([status, stdout]).toEqual([1, ""]);
    const error = JSON.parse(stderr);
    expect(error).toEqual({ status: "Bad Request", message: expect.any(String), code: "invalid_request" });
  });

  test("reports that no service runs", () => {
    const { status, stderr } = run("scripts/operator.ts", ["create-user", "{}"]);
    expect(status).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ status: "Service Unavailable", code: "unavailable" });
  });
});

test.each(["abc", "-1", "65536", "1.5", " 5", "0x1F90", "1e3"])(
  "PORT=%s is refused with a message that names it",
  (port) => {
    const { status, stdout, stderr } = run("local/main.ts", [], { PORT: port });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(JSON.stringify(port));
  },
);
