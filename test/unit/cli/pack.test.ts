import { chmodSync, existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openArchive } from "../../../buildpack/zip/archive.ts";
import { checkSize, packFolder } from "../../../sdk/folder/pack.ts";
import { selectFiles } from "../../../sdk/folder/select-files.ts";
import { folderWith } from "./slipway.ts";

async function unpacked(path: string) {
  const bytes = readFileSync(path);
  const archive = await openArchive({
    size: bytes.length,
    read: async (offset, length) => bytes.subarray(offset, offset + length),
  });
  const texts = new Map<string, string>();
  await archive.verify((entry, content) => void texts.set(entry.path, Buffer.from(content).toString()));
  return archive.entries.map(({ path, kind, executable, linkTarget }) => ({
    path,
    kind,
    executable,
    content: linkTarget ?? texts.get(path),
  }));
}

test("the service's own strict reader accepts the archive and finds contents, links, bits and empty folders in it", async () => {
  using folder = folderWith({
    "run.sh": "#!/bin/sh",
    "src/ünïcödé ✓.txt": "text\n".repeat(1000),
    empty: "",
    "data/": "",
    current: { link: "src" },
  });
  chmodSync(join(folder.path, "run.sh"), 0o755);
  using archive = await packFolder(selectFiles(folder.path));
  expect(archive).toMatchObject({ fileCount: 4, size: statSync(archive.path).size });
  expect(await unpacked(archive.path)).toEqual([
    { path: "current", kind: "symlink", executable: expect.any(Boolean), content: "src" },
    { path: "data", kind: "directory", executable: expect.any(Boolean), content: undefined },
    { path: "empty", kind: "file", executable: false, content: "" },
    { path: "run.sh", kind: "file", executable: true, content: "#!/bin/sh" },
    { path: "src/ünïcödé ✓.txt", kind: "file", executable: false, content: "text\n".repeat(1000) },
  ]);
});

test("the same folder gives the same bytes", async () => {
  using folder = folderWith({ "b.js": "1", "a.js": "2", "c/d.js": "3" });
  for (const name of ["b.js", "a.js", "c/d.js"]) utimesSync(join(folder.path, name), 1_700_000_000, 1_700_000_000);
  using first = await packFolder(selectFiles(folder.path));
  using second = await packFolder(selectFiles(folder.path));
  expect(readFileSync(first.path).equals(readFileSync(second.path))).toBe(true);
});

test("the temporary file is for its owner's eyes only, and gone afterwards", async () => {
  using folder = folderWith({ "app.js": "" });
  let place = "";
  {
    using archive = await packFolder(selectFiles(folder.path));
    place = archive.path;
    expect(statSync(place).mode & 0o777).toBe(0o600);
  }
  expect(existsSync(dirname(place))).toBe(false);
});

test("an empty folder, and one of which everything is left out, is a sentence", async () => {
  using empty = folderWith({ "a/": "" });
  await expect(packFolder(selectFiles(empty.path))).rejects.toThrow("holds no file to deploy");
  using ignored = folderWith({ ".env": "A=1", "node_modules/x": "" });
  await expect(packFolder(selectFiles(ignored.path))).rejects.toThrow("holds no file to deploy");
});

test("a file that changed since it was listed fails the packing, which ends", async () => {
  using folder = folderWith({ "app.js": "1", "b.js": "2" });
  const selection = selectFiles(folder.path);
  writeFileSync(join(folder.path, "app.js"), "longer now");
  await expect(packFolder(selection)).rejects.toThrow("The folder could not be packed");
  using other = folderWith({ "app.js": "1" });
  const gone = selectFiles(other.path);
  other[Symbol.dispose]();
  await expect(packFolder(gone)).rejects.toThrow("ENOENT");
});

test("packing stops with the signal's reason", async () => {
  using folder = folderWith({ "app.js": "1" });
  await expect(packFolder(selectFiles(folder.path), { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow(
    "stop",
  );
});

const placed = { changedAt: new Date(0), executable: false };
const sized = (path: string, size: number) => ({ ...placed, kind: "file" as const, path, size });

test("a folder that is too large is refused with its largest files, the largest first", () => {
  const entries = [sized("a.js", 10), sized("data/dump.sql", 2 * 1024 ** 3), sized("video\u001b[2J.mp4", 500_000_000)];
  const check = () => checkSize({ folder: "/app", entries, environmentFiles: [] });
  expect(check).toThrow("/app holds 2525 MiB; at most 2048 MiB are allowed.");
  expect(check).toThrow("The largest files: data/dump.sql (2.1 GB), video.mp4 (500.0 MB), a.js (10 bytes). List what");
});

test("a folder with too many files is refused with the folders that hold the most", () => {
  const entries = Array.from({ length: 200_001 }, (_, index) => sized(`${index % 3 ? "cache" : "src"}/${index}`, 1));
  const check = () => checkSize({ folder: "/app", entries, environmentFiles: [] });
  expect(check).toThrow("Most are in: cache/ (133334), src/ (66667). List what");
});

test("packing tells how far it is", async () => {
  using folder = folderWith({ "large.txt": "slipway ".repeat(8_000_000), "small.txt": "x" });
  const seen: number[] = [];
  const totalBytes = 64_000_001;
  const onProgress = (progress: { readBytes: number; totalBytes: number }) => {
    expect(progress.totalBytes).toBe(totalBytes);
    seen.push(progress.readBytes);
  };
  using _ = await packFolder(selectFiles(folder.path), { onProgress });
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen.at(-1)).toBeLessThanOrEqual(totalBytes);
});
