import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packFolder } from "../../../sdk/folder/pack.ts";
import { selectFiles } from "../../../sdk/folder/select-files.ts";
import { commandLine, folderWith, slipway } from "./slipway.ts";

const reportsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a folder and the zip of it have the same report, one JSON line for each path, in their order", async () => {
  using app = folderWith({
    "package.json": '{"scripts": {"start": "nodemon server.js"}, "engines": {"node": "26.x"}}',
    "server.js": "require('http').createServer().listen(process.env.PORT)",
  });
  using place = folderWith({ "empty/": "", "broken.zip": "PK no more" });
  using archive = await packFolder(selectFiles(app.path));
  copyFileSync(archive.path, join(place.path, "app.zip"));
  const words = ["analyze", app.path, "app.zip", "empty", "broken.zip"];
  const { code, stdout, stderr } = await commandLine(words, { workingFolder: place.path });
  expect([code, stderr]).toEqual([0, ""]);
  const [folder, zip, empty, broken, ...rest] = reportsOf(stdout);
  expect(rest).toEqual([]);
  expect(folder).toMatchObject({ path: app.path, runtime: "nodejs26.x", language: "nodejs", error: null });
  expect(Object.keys(folder)).toEqual(
    "path runtime language packageManager install build start port root suggestions warning error".split(" "),
  );
  expect(folder.suggestions.length).toBeGreaterThan(0);
  expect(zip).toEqual({ ...folder, path: "app.zip" });
  expect(empty).toMatchObject({ path: "empty", runtime: null, error: { code: "nothing_detected" } });
  expect(broken).toMatchObject({ path: "broken.zip", error: { code: "archive_refused" } });
});

test("an archive that is refused names the entry, and lies in the last byte are found", async () => {
  using app = folderWith({ "package.json": "{}", "server.js": "x".repeat(100) });
  using archive = await packFolder(selectFiles(app.path));
  using place = folderWith({});
  const bytes = readFileSync(archive.path);
  const at = bytes.indexOf("server.js") + "server.js".length + 2;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  writeFileSync(join(place.path, "bad.zip"), bytes);
  const { stdout } = await commandLine(["analyze", "bad.zip"], { workingFolder: place.path });
  expect(reportsOf(stdout)[0].error).toMatchObject({ code: "archive_refused", entry: "server.js" });
});

test("a folder is analyzed completely, or with --as-deployed as deploy would send it", async () => {
  using app = folderWith({
    "package.json": '{"scripts":{"start":"node a.js"}}',
    "a.js": "",
    ".env": "API_KEY=hunter2hunter2",
  });
  const whole = reportsOf((await commandLine(["analyze", app.path])).stdout)[0];
  expect(whole.suggestions).toContainEqual(expect.objectContaining({ file: ".env" }));
  expect(JSON.stringify(whole)).not.toContain("hunter2");
  const sent = reportsOf((await commandLine(["analyze", "--as-deployed", app.path])).stdout)[0];
  expect(sent.suggestions).toEqual([]);
});

test("a path that is not there has a line of its own, and the code is 1", async () => {
  using app = folderWith({ "server.js": "" });
  const { code, stdout } = await commandLine(["analyze", "nope", app.path], { workingFolder: app.path });
  expect(code).toBe(1);
  expect(reportsOf(stdout).map(({ path, error }) => [path, error?.code])).toEqual([
    ["nope", "unreadable"],
    [app.path, undefined],
  ]);
});

test.runIf(process.platform === "linux")("pipes and a file name in Latin-1 do not block the command", async () => {
  using place = folderWith({ "app/package.json": '{"scripts":{"start":"node a.js"}}', "app/a.js": "" });
  writeFileSync(Buffer.concat([Buffer.from(`${place.path}/app/caf`), Buffer.from([0xe9])]), "Latin-1");
  execFileSync("mkfifo", [join(place.path, "pipe"), join(place.path, "app", "pipe")]);
  const { code, stdout } = await slipway(["analyze", "pipe", "app"], { workingFolder: place.path });
  const [pipe, app] = reportsOf(stdout);
  expect([code, pipe.error]).toEqual([1, { code: "unreadable", message: "pipe is neither a folder nor a zip." }]);
  expect(app).toMatchObject({ start: "node a.js", error: null });
});
