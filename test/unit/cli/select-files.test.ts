import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selectFiles } from "../../../sdk/folder/select-files.ts";
import { folderWith } from "./slipway.ts";

const pathsOf = (folder: string) => selectFiles(folder).entries.map(({ path }) => path);

function selected(files: Record<string, string | { link: string }>): string[] {
  using folder = folderWith(files);
  return pathsOf(folder.path).filter((path) => !/\.(git|docker)ignore$/.test(path));
}

test("everything is sent in the order of the names, hidden files and empty folders too", () => {
  expect(selected({ "b.js": "", "a/z": "", "a/b/c": "", ".npmrc": "", "data/": "", "a.js": "" })).toEqual([
    ".npmrc",
    "a.js",
    "a/b/c",
    "a/z",
    "b.js",
    "data",
  ]);
});

test("version control, packages, caches, state and .env files are never sent, at any depth, not even by exception", () => {
  const never = [".git", "node_modules", ".venv", "__pycache__", ".slipway"];
  const files = Object.fromEntries(
    never.flatMap((name) => [
      [`${name}/x`, ""],
      [`web/${name}/x`, ""],
    ]),
  );
  const environment = { ".env": "A=1", ".env.local": "A=1", "web/.env.production": "A=1" };
  using folder = folderWith({ ...files, ...environment, "web/app.js": "", ".gitignore": "!.env\n!node_modules/" });
  expect(pathsOf(folder.path)).toEqual([".gitignore", "web/app.js"]);
  expect(selectFiles(folder.path).environmentFiles).toEqual([".env", ".env.local", "web/.env.production"]);
});

test(".git is left out when it is a file too, as in a worktree", () => {
  expect(selected({ ".git": "gitdir: elsewhere", "app.js": "" })).toEqual(["app.js"]);
});

test.each([
  ["a name anywhere", "*.log", { "x.log": "", "a/x.log": "", b: "" }, ["b"]],
  ["an anchored name", "/dist", { "dist/x": "", "a/dist/x": "" }, ["a/dist/x"]],
  ["folders only", "build/", { "build/x": "", "a/build": "" }, ["a/build"]],
  ["an exception", "*.log\n!keep.log", { "x.log": "", "keep.log": "" }, ["keep.log"]],
  ["no exception below an excluded folder", "a/\n!a/x", { "a/x": "", b: "" }, ["b"]],
  ["an exception below an excluded content", "a/*\n!a/x", { "a/x": "", "a/y": "" }, ["a/x"]],
  ["upper case", "README", { readme: "", README: "" }, ["readme"]],
  ["Windows line ends and a BOM", "\uFEFFx\r\ny\r\n", { x: "", y: "", z: "" }, ["z"]],
] as const)("a .gitignore leaves out as git does: %s", (_, rules, files, expected) => {
  expect(selected({ ...files, ".gitignore": rules })).toEqual(expected);
});

test("a nested .gitignore counts from its folder down, over the ones above it", () => {
  const files = {
    "x.log": "",
    "a/x.log": "",
    "a/b/x.log": "",
    "a/tmp/y": "",
    "tmp/y": "",
    "[slug]/gen/y": "",
    "s/gen/y": "",
  };
  expect(
    selected({ ...files, ".gitignore": "*.log", "a/.gitignore": "!x.log\n/tmp", "[slug]/.gitignore": "gen/" }),
  ).toEqual(["a/b/x.log", "a/x.log", "s/gen/y", "tmp/y"]);
});

test("the ignore rules of the enclosing repository apply", () => {
  using repository = folderWith({
    ".git/HEAD": "",
    ".gitignore": "*.pem\n/apps/web/cache",
    "apps/.gitignore": "*.tmp",
    "apps/web/app.js": "",
    "apps/web/key.pem": "",
    "apps/web/x.tmp": "",
    "apps/web/cache/x": "",
  });
  expect(pathsOf(join(repository.path, "apps/web"))).toEqual(["app.js"]);
});

test("a folder that the repository around it leaves out as a whole is sent when it is named", () => {
  using repository = folderWith({ ".git/HEAD": "", ".gitignore": "dist/\n*.map", "dist/x.js": "", "dist/x.map": "" });
  expect(pathsOf(join(repository.path, "dist"))).toEqual(["x.js", "x.map"]);
});

test.each([
  ["patterns are anchored at the top", "x", { x: "", "a/x": "" }, ["a/x"]],
  ["two stars are any depth", "**/x", { x: "", "a/x": "", y: "" }, ["y"]],
  ["an exception brings back what lies in an excluded folder", "a\n!a/b/x", { "a/b/x": "", "a/y": "" }, ["a/b/x"]],
  ["all but", "*\n!src\n!app.js", { "src/a/x": "", "app.js": "", "b/x": "", c: "" }, ["app.js", "src/a/x"]],
  ["the last match wins", "!a/x\na", { "a/x": "", b: "" }, ["b"]],
  ["slashes at the ends and blanks do not count", " /a/ \n# b\n\n./c", { "a/x": "", b: "", c: "" }, ["b"]],
] as const)("a .dockerignore leaves out as Docker does: %s", (_, rules, files, expected) => {
  expect(selected({ ...files, ".dockerignore": rules })).toEqual(expected);
});

test("a path that either of the two excludes is not sent", () => {
  expect(selected({ ".gitignore": "a\n!b", ".dockerignore": "b\n!a", a: "", b: "", c: "" })).toEqual(["c"]);
});

test("links that stay inside are kept as links, also when they lead to nothing or to a folder", () => {
  using folder = folderWith({
    "src/app.js": "",
    "current.js": { link: "src/app.js" },
    "src/up": { link: "../src" },
    later: { link: "not/there" },
  });
  const links = selectFiles(folder.path).entries.filter((entry) => entry.kind === "link");
  expect(links.map(({ path, target }) => [path, target])).toEqual([
    ["current.js", "src/app.js"],
    ["later", "not/there"],
    ["src/up", "../src"],
  ]);
});

test.each([
  ["leads out", { x: { link: "../elsewhere" } }],
  ["leads out and comes back", { "a/b": "", x: { link: "a/../../y" } }],
  ["leads out through another link", { "a/b/c": "", l: { link: "a/b" }, m: { link: "l/../../.." } }],
  ["is absolute", { x: { link: "/etc/hostname" } }],
])("a link that %s is refused by name, with what to do", (_, files) => {
  using folder = folderWith({ "app.js": "", ...files });
  expect(() => selectFiles(folder.path)).toThrow(/^[xm] is a link .*Make it a relative link within the folder/);
});

test("a link that is left out may lead anywhere", () => {
  expect(selected({ x: { link: "/etc" }, ".gitignore": "x", y: "" })).toEqual(["y"]);
});

test("executable bits are seen", () => {
  using folder = folderWith({ "run.sh": "", "app.js": "" });
  chmodSync(join(folder.path, "run.sh"), 0o755);
  const files = selectFiles(folder.path).entries.filter((entry) => entry.kind === "file");
  expect(files.map(({ path, executable }) => [path, executable])).toEqual([
    ["app.js", false],
    ["run.sh", true],
  ]);
});

test("names that an archive cannot hold are refused", () => {
  using folder = folderWith({ "a\\b": "" });
  expect(() => selectFiles(folder.path)).toThrow("has a name that an archive cannot contain");
});

test("a folder that is missing or a file is named", () => {
  using folder = folderWith({ "app.js": "" });
  expect(() => selectFiles(join(folder.path, "nope"))).toThrow("There is no folder");
  expect(() => selectFiles(join(folder.path, "app.js"))).toThrow("is a file");
});

test("a folder reached through a link is read like the folder itself", () => {
  using folder = folderWith({ "real/app.js": "", "real/x": { link: "app.js" }, alias: { link: "real" } });
  expect(pathsOf(join(folder.path, "alias"))).toEqual(["app.js", "x"]);
  mkdirSync(join(folder.path, "real/more"));
  writeFileSync(join(folder.path, "real/more/y"), "");
  expect(pathsOf(join(folder.path, "alias"))).toEqual(["app.js", "more/y", "x"]);
});
