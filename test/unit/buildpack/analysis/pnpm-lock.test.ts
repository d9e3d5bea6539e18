import { expect, test } from "vitest";
import { pnpmLock } from "../../../../buildpack/analysis/node/pnpm-lock.ts";
import { cpuTimer } from "../../../harness/cpu-time.ts";

test.each<[string, string, string, [string, string][] | undefined]>([
  [
    "version 5",
    "lockfileVersion: 5.4\n\nspecifiers:\n  a: ^1.0.0\n  '@b/c': 2\n\ndependencies:\n  a: 1.2.0\n",
    "5.4",
    [
      ["a", "^1.0.0"],
      ["@b/c", "2"],
    ],
  ],
  [
    "version 6",
    "lockfileVersion: '6.0'\n\ndependencies:\n  a:\n    specifier: ^1.0.0\n    version: 1.2.0(b@1)\n\ndevDependencies:\n  d:\n    specifier: '*'\n    version: 3.0.0\n\npackages:\n\n  /a@1.2.0:\n    dev: false\n",
    "6.0",
    [
      ["a", "^1.0.0"],
      ["d", "*"],
    ],
  ],
  [
    "version 9",
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: 'catalog:'\n        version: 1.2.0\n\n  web:\n    dependencies:\n      z:\n        specifier: '1'\n        version: 1.0.0\n\npackages:\n\n  a@1.2.0:\n    resolution: {integrity: x}\n",
    "9.0",
    [["a", "catalog:"]],
  ],
  [
    "a quoted root",
    "lockfileVersion: '9.0'\nimporters:\n  '.':\n    dependencies:\n      a: {specifier: '1', version: 1.0.0}\n",
    "9.0",
    [["a", "1"]],
  ],
  [
    "a root without packages",
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n  web:\n    dependencies:\n      z:\n        specifier: '1'\n",
    "9.0",
    [],
  ],
  [
    "importers on one line",
    "lockfileVersion: '9.0'\nimporters: {.: {dependencies: {a: {specifier: ^1, version: 1.0.0}}}}\n",
    "9.0",
    [["a", "^1"]],
  ],
  [
    "comments between",
    "# by hand\nlockfileVersion: '9.0'\nimporters:\n# all\n  .:\n  # the root\n    dependencies:\n      a:\n        specifier: '1'\n",
    "9.0",
    [["a", "1"]],
  ],
  ["no packages at all", "lockfileVersion: '6.0'\n", "6.0", []],
  ["what is no YAML", "importers:\n\n  .:\n    a: [\n", "", undefined],
  [
    "aliases that multiply",
    "importers:\n\n  .:\n    dependencies: &a {b: {specifier: '1'}}\n    devDependencies: *a\n",
    "",
    undefined,
  ],
  [
    "a root beyond all measure",
    `importers:\n\n  .:\n    dependencies:\n${"      a:\n        specifier: '1'\n".repeat(10_000)}`,
    "",
    undefined,
  ],
])("a pnpm-lock.yaml is read: %s", (_, text, version, specifiers) => {
  const lock = pnpmLock(text);
  expect([lock.version, lock.specifiers && [...lock.specifiers]]).toEqual([version, specifiers]);
});

test("of two documents the first says which pnpm wrote them, the second what the project needs", () => {
  const own =
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    packageManagerDependencies:\n      pnpm:\n        specifier: 11.0.0\n        version: 11.0.0\n\n";
  const lock = pnpmLock(
    `---\n${own}---\nlockfileVersion: '9.0'\n\noverrides:\n  x: 1\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: '1'\n        version: 1.0.0\n`,
  );
  expect(lock).toMatchObject({ hasOwnDocument: true, pnpmVersion: "11.0.0", hasOverrides: true });
  expect([...(lock.specifiers ?? [])]).toEqual([["a", "1"]]);
});

test("a lock file of 5 MB costs no more than its root", () => {
  const root =
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: '1'\n        version: 1.0.0\n";
  const member = (index: number) =>
    `\n  packages/p${index}:\n    dependencies:\n      a:\n        specifier: '1'\n        version: 1.0.0\n`;
  const entry = (index: number) =>
    `\n  'a${index}@1.0.0':\n    resolution: {integrity: sha512-${"x".repeat(86)}}\n    engines: {node: '>=18'}\n`;
  const text = `${root}${Array.from({ length: 5_000 }, (_, index) => member(index)).join("")}\npackages:\n${Array.from({ length: 32_000 }, (_, index) => entry(index)).join("")}`;
  expect(text.length).toBeGreaterThan(5_000_000);
  const spent = cpuTimer();
  expect([...(pnpmLock(text).specifiers ?? [])]).toEqual([["a", "1"]]);
  expect(spent()).toBeLessThan(1_000);
});
