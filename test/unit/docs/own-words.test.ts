import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\0")
  .filter((file) => file !== "" && lstatSync(join(root, file), { throwIfNoEntry: false })?.isFile());

// Put together from parts, so that this file does not contain them.
const folders = ["work", "check", "tmp/wt", "tmp/brief"].map((folder) => `/${folder}/`);
const hosts = [
  ["registry", "npmjs", "org"],
  ["registry", "npmjs", "com"],
  ["registry", "yarnpkg", "com"],
  ["npm", "pkg", "github", "com"],
].map((labels) => labels.join("."));

const absolute = new RegExp(`(?<![\\w.~*)}\\]-])(?:${folders.join("|")})`);
const registry = new RegExp(hosts.map((host) => host.replaceAll(".", "\\.")).join("|"), "i");

/** What a text says of the machine that it was written on: a folder of that machine, or the registry that it installed from. */
const foreignTo = (text: string): string[] =>
  text.split("\n").filter((line) => absolute.test(line) || registry.test(line));

test("no file names a folder of the machine that it was written on, or the registry that it installed from", () => {
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    foreignTo(readFileSync(join(root, file), "latin1")).map((line) => `${file}: ${line.trim().slice(0, 120)}`),
  );
  expect(found).toEqual([]);
});

test("package-lock.json holds no addresses, so that npm installs from the registry that the user configured", () => {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  expect(lock).toContain('"integrity"');
  expect(lock).not.toMatch(/"resolved":\s*"\w+:\/\//);
});

test.each([
  ["a path", `see ${folders[0]}main/README.md`, 1],
  ["a file URL", `at file://${folders[0]}main/a.ts`, 1],
  ["a registry", `"https://${hosts[0]}/zod"`, 1],
  ["a relative folder", "the folder test/work/ and ./check/", 0],
])("%s is told from what only looks like it", (_, line, count) => {
  expect(foreignTo(`before\n${line}\nafter`)).toHaveLength(count);
});
