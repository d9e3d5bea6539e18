import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Copies the repository without build output, as after a clone and `npm ci`. `cp` takes half the processor time of `cpSync`. */
async function freshClone(): Promise<string> {
  const clone = temporaryFolder("clone");
  const made = new Set(["node_modules", "dist", "cdk.out", ".git", ".slipway"]);
  await run("cp", ["-R", ...readdirSync(root).filter((name) => !made.has(name)), clone], { cwd: root });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return clone;
}

// Needs 20 s of processor time, most of it for the validation: on a busy machine that is minutes.
const timeout = 300_000;

it("cdk synth works in a fresh clone, prints the template only, and CDK's own validation passes", {
  timeout,
}, async () => {
  const cwd = await freshClone();
  const path = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;
  const args = ["synth", "--no-version-reporting", "--no-notices", "-c", "alarmEmail=alarms@example.com"];
  const { stdout } = await run("cdk", args, { cwd, env: { ...process.env, PATH: path }, maxBuffer: 64 * 1024 * 1024 });
  expect(stdout).toMatch(/^Description: /);
  expect(existsSync(join(cwd, "dist", "lambdas", "organizations", "ping.mjs"))).toBe(true);
  const report = JSON.parse(readFileSync(join(cwd, "cdk.out", "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});
