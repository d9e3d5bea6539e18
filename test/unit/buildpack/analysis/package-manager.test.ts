import { expect, test } from "vitest";
import { analysisOf } from "./tree.ts";

type Files = Record<string, string | object>;
const manifest = (fields: object = {}) => ({
  scripts: { start: "node server.js", build: "tsc" },
  dependencies: { a: "^1.0.0" },
  ...fields,
});
const npmLock = (version = "1.2.0") => ({ lockfileVersion: 3, packages: { "": {}, "node_modules/a": { version } } });
const pnpmLock = (version: string, specifier = "^1.0.0") =>
  version.startsWith("9")
    ? `lockfileVersion: '${version}'\n\nimporters:\n\n  .:\n    dependencies:\n      a:\n        specifier: ${specifier}\n        version: 1.2.0\n\npackages:\n`
    : version.startsWith("6")
      ? `lockfileVersion: '${version}'\n\ndependencies:\n  a:\n    specifier: ${specifier}\n    version: 1.2.0\n`
      : `lockfileVersion: ${version}\n\nspecifiers:\n  a: ${specifier}\n\ndependencies:\n  a: 1.2.0\n`;
const yarnLock = (metadata?: string, range = "^1.0.0") =>
  metadata === undefined
    ? `# yarn lockfile v1\n\na@${range}:\n  version "1.2.0"\n`
    : `__metadata:\n  version: ${metadata}\n  cacheKey: 10\n\n"a@npm:${range}":\n  version: 1.2.0\n`;
const bunLock =
  '{\n  "lockfileVersion": 1,\n  "workspaces": {\n    "": {\n      "dependencies": {\n        "a": "^1.0.0",\n      },\n    },\n  },\n}';

test.each<[string, Files, string, string | null, string]>([
  ["package-lock.json", { "package-lock.json": npmLock() }, "npm", null, "npm ci"],
  ["npm-shrinkwrap.json", { "npm-shrinkwrap.json": npmLock() }, "npm", null, "npm ci"],
  ["pnpm-lock.yaml 5.3", { "pnpm-lock.yaml": pnpmLock("5.3") }, "pnpm", "6", "pnpm install --frozen-lockfile"],
  ["pnpm-lock.yaml 5.4", { "pnpm-lock.yaml": pnpmLock("5.4") }, "pnpm", "7", "pnpm install --frozen-lockfile"],
  ["pnpm-lock.yaml 6.0", { "pnpm-lock.yaml": pnpmLock("6.0") }, "pnpm", "8", "pnpm install --frozen-lockfile"],
  ["pnpm-lock.yaml 6.1", { "pnpm-lock.yaml": pnpmLock("6.1") }, "pnpm", "8", "pnpm install --frozen-lockfile"],
  ["pnpm-lock.yaml 9.0", { "pnpm-lock.yaml": pnpmLock("9.0") }, "pnpm", "9", "pnpm install --frozen-lockfile"],
  ["yarn.lock without metadata", { "yarn.lock": yarnLock() }, "yarn", "1", "yarn install --frozen-lockfile"],
  ["yarn.lock 4", { "yarn.lock": yarnLock("4") }, "yarn", "2", "yarn install --immutable"],
  ["yarn.lock 5", { "yarn.lock": yarnLock("5") }, "yarn", "2", "yarn install --immutable"],
  ["yarn.lock 6", { "yarn.lock": yarnLock("6") }, "yarn", "3", "yarn install --immutable"],
  ["yarn.lock 7", { "yarn.lock": yarnLock("7") }, "yarn", "3", "yarn install --immutable"],
  ["yarn.lock 8", { "yarn.lock": yarnLock("8") }, "yarn", "4", "yarn install --immutable"],
  [
    "yarn.lock with a release",
    { "yarn.lock": yarnLock("8"), ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-4.5.3.cjs\n" },
    "yarn",
    "4.5.3",
    "yarn install --immutable",
  ],
  [".yarnrc.yml alone", { ".yarnrc.yml": "nodeLinker: node-modules\n" }, "yarn", "4", "yarn install --no-immutable"],
  ["bun.lock", { "bun.lock": bunLock }, "bun", null, "bun install --frozen-lockfile"],
  ["bun.lockb", { "bun.lockb": "\0" }, "bun", null, "bun install --frozen-lockfile"],
  [
    "packageManager",
    { "package.json": manifest({ packageManager: "pnpm@9.15.4+sha512.abc" }), "yarn.lock": yarnLock() },
    "pnpm",
    "9.15.4",
    "pnpm install --no-frozen-lockfile",
  ],
  [
    "devEngines.packageManager",
    {
      "package.json": manifest({ devEngines: { packageManager: { name: "yarn", version: "^4" } } }),
      "package-lock.json": npmLock(),
    },
    "yarn",
    "4",
    "yarn install --no-immutable",
  ],
  [
    "engines.pnpm",
    { "package.json": manifest({ engines: { pnpm: ">=8" } }) },
    "pnpm",
    "10",
    "pnpm install --no-frozen-lockfile",
  ],
  ["engines.yarn", { "package.json": manifest({ engines: { yarn: "1.x" } }) }, "yarn", "1", "yarn install"],
  ["engines.bun", { "package.json": manifest({ engines: { bun: ">=1" } }) }, "bun", "1", "bun install"],
  ["nothing", {}, "npm", null, "npm install"],
  [
    "engines that the lock's version does not meet",
    { "package.json": manifest({ engines: { pnpm: ">=10" } }), "pnpm-lock.yaml": pnpmLock("9.0") },
    "pnpm",
    "10",
    "pnpm install --frozen-lockfile",
  ],
])("%s: manager, version and install command", (_, files, name, version, install) => {
  const { plan } = analysisOf({ "package.json": manifest(), "server.js": "", ...files });
  expect(plan.packageManager).toEqual({ name, version });
  expect(plan.install).toBe(install);
  expect(plan.build).toBe(`${name} run build`);
});

test("the lock files rank: pnpm, bun, yarn, npm; the others are named in a suggestion", () => {
  const locks: Files = {
    "pnpm-lock.yaml": pnpmLock("9.0"),
    "bun.lock": bunLock,
    "yarn.lock": yarnLock(),
    "package-lock.json": npmLock(),
  };
  for (const name of ["pnpm", "bun", "yarn"]) {
    const analysis = analysisOf({ "package.json": manifest(), "server.js": "", ...locks });
    expect(analysis.plan.packageManager.name).toBe(name);
    expect(analysis.suggestions.map(({ code }) => code)).toEqual(["several_locks"]);
    delete locks[Object.keys(locks)[0] ?? ""];
  }
});

test("a packageManager that cannot be read is ignored with a warning", () => {
  const { plan, warnings } = analysisOf({
    "package.json": manifest({ packageManager: "cargo@1" }),
    "server.js": "",
    "yarn.lock": yarnLock(),
  });
  expect(plan.packageManager.name).toBe("yarn");
  expect(warnings).toHaveLength(1);
});

test("no lock file is a suggestion where there are dependencies, and nothing at all where there are none", () => {
  expect(analysisOf({ "package.json": manifest(), "server.js": "" }).suggestions).toEqual([
    {
      code: "no_lock_file",
      message:
        "package.json has no package-lock.json next to it, so each build may install different versions. npm install is used; commit the package-lock.json that it writes.",
      file: "package.json",
      line: 1,
    },
  ]);
  const without = analysisOf({ "package.json": { scripts: { start: "node server.js" } }, "server.js": "" });
  expect(without).toMatchObject({ suggestions: [], plan: { install: null } });
});

test.each<[string, Files, string]>([
  ["npm: a version out of the range", { "package-lock.json": npmLock("2.0.0") }, "npm install"],
  ["npm: a package that is missing", { "package-lock.json": { packages: { "": {} } } }, "npm install"],
  ["npm: version 1", { "package-lock.json": { lockfileVersion: 1, dependencies: {} } }, "npm install"],
  ["npm: not JSON", { "package-lock.json": "<<<<<<< HEAD" }, "npm install"],
  ["pnpm: another specifier", { "pnpm-lock.yaml": pnpmLock("9.0", "^0.9.0") }, "pnpm install --no-frozen-lockfile"],
  ["pnpm 5: another specifier", { "pnpm-lock.yaml": pnpmLock("5.4", "^0.9.0") }, "pnpm install --no-frozen-lockfile"],
  ["yarn 1: another range", { "yarn.lock": yarnLock(undefined, "^0.9.0") }, "yarn install"],
  ["yarn 4: another range", { "yarn.lock": yarnLock("8", "^0.9.0") }, "yarn install --no-immutable"],
  ["bun: another range", { "bun.lock": bunLock.replace("^1.0.0", "^0.9.0") }, "bun install"],
])("a lock out of step is a suggestion and is not frozen (%s)", (_, files, install) => {
  const { plan, suggestions } = analysisOf({ "package.json": manifest(), "server.js": "", ...files });
  expect(plan.install).toBe(install);
  expect(suggestions.map(({ code }) => code)).toEqual(["lock_out_of_step"]);
});

const python = (files: Files) => analysisOf({ "main.py": "", ...files });
const project = '[project]\nname = "a"\ndependencies = ["flask>=3"]\n';
const poetryProject =
  '[tool.poetry]\nname = "a"\npackage-mode = false\n[tool.poetry.dependencies]\npython = "^3.12"\nflask = "^3"\n';
const lock = '[[package]]\nname = "flask"\nversion = "3.0.0"\n';
const pipfile = '[packages]\nflask = "*"\n';
const pipLock = { default: { flask: {} } };

test.each<[string, Files, string, string | null]>([
  ["requirements.txt", { "requirements.txt": "flask" }, "pip", "pip install -r requirements.txt"],
  [
    "uv.lock beside requirements.txt",
    { "pyproject.toml": project, "uv.lock": lock, "requirements.txt": "flask" },
    "uv",
    "uv sync --frozen",
  ],
  [
    "poetry.lock beside requirements.txt",
    { "pyproject.toml": poetryProject, "poetry.lock": lock, "requirements.txt": "flask" },
    "poetry",
    "poetry install --no-interaction --no-root",
  ],
  ["pdm.lock", { "pyproject.toml": project, "pdm.lock": lock }, "pdm", "pdm install --frozen-lockfile"],
  [
    "Pipfile.lock beside requirements.txt",
    { Pipfile: pipfile, "Pipfile.lock": pipLock, "requirements.txt": "flask" },
    "pipenv",
    "pipenv sync --dev",
  ],
  [
    "several locks beside requirements.txt",
    { "pyproject.toml": project, "uv.lock": lock, "poetry.lock": lock, "requirements.txt": "flask" },
    "pip",
    "pip install -r requirements.txt",
  ],
  [
    "several locks, one of them [tool.poetry]'s",
    { "pyproject.toml": poetryProject, "uv.lock": lock, "poetry.lock": lock },
    "poetry",
    "poetry install --no-interaction --no-root",
  ],
  [
    "several locks, one of them the Pipfile's",
    { "pyproject.toml": project, "uv.lock": lock, Pipfile: pipfile, "Pipfile.lock": pipLock },
    "pipenv",
    "pipenv sync --dev",
  ],
  [
    "several locks, one of them [project]'s",
    { "pyproject.toml": project, "pdm.lock": lock, "uv.lock": lock },
    "uv",
    "uv sync --frozen",
  ],
  ["Pipfile", { Pipfile: pipfile }, "pipenv", "pipenv install --dev"],
  ["[tool.poetry]", { "pyproject.toml": poetryProject }, "poetry", "poetry install --no-interaction --no-root"],
  ["[project]", { "pyproject.toml": project }, "uv", "uv sync"],
  ["setup.py", { "setup.py": "" }, "pip", "pip install ."],
  ["nothing", {}, "pip", null],
])("Python, %s: manager and install command", (_, files, name, install) => {
  const { plan } = python(files);
  expect(plan.packageManager.name).toBe(name);
  expect(plan.install).toBe(install);
});

test("a Python lock without a declared package is out of step, and no lock is a suggestion", () => {
  expect(python({ "pyproject.toml": project, "uv.lock": '[[package]]\nname = "django"\n' })).toMatchObject({
    plan: { install: "uv sync" },
    suggestions: [{ code: "lock_out_of_step", file: "uv.lock" }],
  });
  expect(python({ "pyproject.toml": project }).suggestions).toMatchObject([
    { code: "no_lock_file", file: "pyproject.toml" },
  ]);
  expect(python({ "requirements.txt": "requests\n" }).suggestions).toEqual([]);
});

test("a pnpm lock file in two documents is read: pnpm's own before the project's", () => {
  const own =
    "---\nlockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    configDependencies: {}\n    packageManagerDependencies:\n      pnpm:\n        specifier: 12.4.2\n        version: 12.4.2\n\n---\n";
  const { plan, suggestions } = analysisOf({
    "package.json": manifest(),
    "server.js": "",
    "pnpm-lock.yaml": own + pnpmLock("9.0"),
  });
  expect(suggestions).toEqual([]);
  expect(plan).toMatchObject({
    install: "pnpm install --frozen-lockfile",
    packageManager: { name: "pnpm", version: "12.4.2" },
  });
});

test(".yarnrc.yml stands before npm's lock file, and behind every other", () => {
  const managerOf = (files: Files) =>
    analysisOf({ "package.json": manifest(), "server.js": "", ".yarnrc.yml": "nodeLinker: pnp\n", ...files }).plan
      .packageManager.name;
  expect(managerOf({ "package-lock.json": npmLock("1.0.0") })).toBe("yarn");
  expect(managerOf({ "pnpm-lock.yaml": pnpmLock("9.0") })).toBe("pnpm");
});

test("yarn 1 leaves a workspace's own packages out of its lock file, and nothing else", () => {
  const analysis = (dependencies: object) =>
    analysisOf({
      "package.json": { workspaces: ["packages/*"], dependencies, scripts: { start: "node a.js" } },
      "packages/ui/package.json": { name: "@shop/ui", version: "1.0.0" },
      "a.js": "",
      "yarn.lock": yarnLock(),
    });
  expect(analysis({ "@shop/ui": "*" })).toMatchObject({
    plan: { install: "yarn install --frozen-lockfile" },
    suggestions: [],
  });
  expect(analysis({ "@shop/ui": "*", missing: "^1.0.0" }).suggestions).toMatchObject([{ code: "lock_out_of_step" }]);
});

test("a workspace's own package is answered by a lock file of yarn 4, which lists it without npm:", () => {
  const { plan, suggestions } = analysisOf({
    "package.json": { workspaces: ["packages/*"], dependencies: { ui: "*" }, scripts: { start: "node a.js" } },
    "packages/ui/package.json": { name: "ui" },
    "a.js": "",
    "yarn.lock": '__metadata:\n  version: 8\n\n"ui@*, ui@workspace:packages/ui":\n  version: 0.0.0-use.local\n',
  });
  expect(plan.install).toBe("yarn install --immutable");
  expect(suggestions).toEqual([]);
});
