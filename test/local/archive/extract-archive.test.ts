import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openArchive } from "../../../buildpack/zip/archive.ts";
import { type ExtractOptions, extractArchive } from "../../../local/archive/extract-archive.ts";
import { fileSource } from "../../../local/archive/file-source.ts";
import { type ForgedEntry, forge, unixFile, unixLink } from "../../unit/buildpack/zip/forge.ts";
import { sourceOf } from "../../unit/buildpack/zip/opened.ts";
import { extracted, scratch, treeOf } from "./trees.ts";

const link = (name: string, data: string): ForgedEntry => ({ name, data, ...unixLink });

async function unpacked(entries: ForgedEntry[], options?: ExtractOptions): Promise<string> {
  const path = join(scratch(), "app.zip");
  writeFileSync(path, forge(entries));
  return extracted(path, options);
}

it("files get the mode 0644 or 0755, regardless of the process's umask and the other mode bits in the archive", async () => {
  const mask = process.umask(0o077);
  onTestFinished(() => void process.umask(mask));
  const target = await unpacked([
    { name: "bin/run", data: "1", ...unixFile, external: 0o106711 * 0x10000 },
    { name: "secret", data: "2", ...unixFile, external: 0o100000 * 0x10000 },
    { name: "dos", data: "3" },
  ]);
  const modes = ["bin/run", "secret", "dos"].map((name) => statSync(join(target, name)).mode & 0o7777);
  expect(modes).toEqual([0o755, 0o644, 0o644]);
});

it("files of any size are extracted unchanged, and links keep their targets", async () => {
  const large = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * n) >>> 7));
  const target = await unpacked([
    link("first/link", "../second/file"),
    { name: "second/file", data: large, deflate: true },
    { name: "second/stored", data: large, descriptor: "honest" },
    { name: "empty/" },
    { name: "./" },
  ]);
  expect(readFileSync(join(target, "first/link")).equals(large)).toBe(true);
  expect(readFileSync(join(target, "second/stored")).equals(large)).toBe(true);
  expect(readdirSync(join(target, "empty"))).toEqual([]);
});

it("junk files of operating systems are not extracted", async () => {
  const target = await unpacked([
    { name: "app/" },
    { name: "app/index.js", data: "1" },
    { name: "app/.DS_Store" },
    { name: "__MACOSX/app/._index.js" },
    { name: "app/Thumbs.db" },
  ]);
  expect(treeOf(target)).toEqual({ app: "/", "app/index.js": "1" });
});

it("with a root, only files below it are written, without the root in their paths", async () => {
  const entries = [
    { name: "app/" },
    { name: "app/src/index.js", data: "1" },
    link("app/main.js", "src/index.js"),
    { name: "application/other", data: "2" },
    { name: "readme", data: "3" },
  ];
  expect(treeOf(await unpacked(entries, { root: "app" }))).toEqual({
    src: "/",
    "src/index.js": "1",
    "main.js": "-> src/index.js",
  });
});

it("a link that leaves the root is refused, even if its target is in the archive", async () => {
  const entries = [{ name: "shared/file", data: "1" }, link("app/link", "../shared/file")];
  expect(treeOf(await unpacked(entries))).toMatchObject({ "app/link": "-> ../shared/file" });
  await expect(unpacked(entries, { root: "app" })).rejects.toMatchObject({ rule: "link_escape", entry: "app/link" });
});

it("nothing is extracted into a folder that is not empty, and a link in its place is not followed", async () => {
  const outside = scratch();
  const target = join(scratch(), "tree");
  const archive = await openArchive(sourceOf(forge([{ name: "link/evil", data: "1" }])));
  mkdirSync(target);
  symlinkSync(outside, join(target, "link"));
  await expect(extractArchive(archive, target)).rejects.toThrow("must be empty and must not be a symbolic link");
  const asLink = join(scratch(), "link");
  symlinkSync(outside, asLink);
  await expect(extractArchive(archive, asLink)).rejects.toThrow("must be empty and must not be a symbolic link");
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(target)).toEqual(["link"]);
});

it.each<[string, ForgedEntry]>([
  ["small", { name: "z", data: "good", packed: Buffer.from("evil") }],
  ["large", { name: "z", data: Buffer.alloc(3_000_000), crc: 1 }],
  ["a link", link("z", "../out")],
])("an archive that is found bad at its end leaves nothing behind: %s", async (_, bad) => {
  const target = join(scratch(), "tree");
  const archive = await openArchive(sourceOf(forge([{ name: "a/b/c", data: "1" }, bad])));
  await expect(extractArchive(archive, target)).rejects.toMatchObject({ name: "ArchiveRefused", entry: "z" });
  expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);
});

it("a file that is truncated while it is read is refused, and a missing file is a file system error", async () => {
  const path = join(scratch(), "app.zip");
  const bytes = forge([{ name: "a", data: Buffer.alloc(20_000_000, "x") }, { name: "b" }]);
  writeFileSync(path, bytes);
  const source = fileSource(path);
  const archive = await openArchive(source);
  writeFileSync(path, bytes.subarray(0, 1_000_000));
  await expect(archive.verify()).rejects.toMatchObject({ rule: "truncated" });
  source.close();
  expect(() => fileSource(`${path}.missing`)).toThrow("ENOENT");
});
