import { execFile } from "node:child_process";
import { cpSync, existsSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "./assembly.ts";

const root = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** A copy of the repository as after a clone and `npm ci`, without build output. */
function freshClone(): string {
  const clone = temporaryFolder("clone");
  const made = new Set(["node_modules", "dist", "cdk.out", ".git", ".slipway"]);
  cpSync(root, clone, { recursive: true, filter: (path) => path === root || !made.has(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return clone;
}

it("cdk synth works in a fresh clone without another step, and prints the template only", async () => {
  const cwd = freshClone();
  const path = `${join(root, "node_modules", ".bin")}:${process.env.PATH}`;
  const args = ["synth", "--no-version-reporting", "--no-notices"];
  const { stdout } = await run("cdk", args, { cwd, env: { ...process.env, PATH: path }, maxBuffer: 64 * 1024 * 1024 });
  expect(stdout).toMatch(/^Description: /);
  expect(existsSync(join(cwd, "dist", "lambdas", "organizations", "ping.mjs"))).toBe(true);
});
