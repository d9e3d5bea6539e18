import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replaceFile } from "../../../cli/replace-file.ts";
import { folderWith } from "./slipway.ts";

test("a file is replaced in one step, readable by its owner only, and a link to it stays one", () => {
  using folder = folderWith({ ".env": "A=1" });
  const link = join(folder.path, "link");
  symlinkSync(".env", link);
  replaceFile(link, "A=2");
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  const file = join(folder.path, ".env");
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["A=2", 0o600]);
});

test("what cannot be replaced stays as it is, and nothing is left beside it", () => {
  using folder = folderWith({ "taken/file": "old" });
  expect(() => replaceFile(join(folder.path, "taken"), "new")).toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
  expect(readdirSync(folder.path)).toEqual(["taken"]);
  expect(readFileSync(join(folder.path, "taken", "file"), "utf8")).toBe("old");
});
