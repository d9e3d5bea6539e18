import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ArchiveRefused } from "../../../buildpack/zip/refused.ts";
import { fc } from "../../harness/fast-check.ts";
import { type ForgedEntry, forge, unixFile, unixLink } from "../../unit/buildpack/zip/forge.ts";
import { verified } from "../../unit/buildpack/zip/opened.ts";
import { sampleArchives, treeArbitrary } from "../../unit/buildpack/zip/trees.ts";
import { extracted, scratch, treeOf } from "./trees.ts";

const hasUnzip = spawnSync("unzip", ["-v"], { stdio: "ignore" }).error === undefined;
const reason = hasUnzip ? "" : " (unzip is not installed here: not compared)";

/** Reads the path of an archive and that of a folder, a line each, and prints unzip's exit code. */
const unzipAll =
  'while read -r archive && read -r folder; do unzip -qqo "$archive" -d "$folder" < /dev/null > /dev/null 2>&1; echo $?; done';
// One shell starts unzip hundreds of times: this process is large, so its own starts of a program take much longer.
let shell: ChildProcessByStdio<Writable, Readable, null>;
let exitCodes: AsyncIterator<string>;

/** The tree that unzip extracts, and unzip's exit code. */
async function unzipped(path: string, folder: string): Promise<{ tree: Record<string, string>; exitCode: number }> {
  const target = mkdtempSync(join(folder, "theirs-"));
  shell.stdin.write(`${path}\n${target}\n`);
  const { value } = await exitCodes.next();
  return { tree: treeOf(target), exitCode: Number(value) };
}

/** Only contents and links are compared: unzip ignores modes from some hosts, and folders may only be implied. */
const contents = (tree: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(tree)
      .filter(([, file]) => file !== "/")
      .map(([path, file]) => [path, file.replace(/^x /, "")]),
  );

async function bothRead(archive: Buffer, folder: string): Promise<"refused" | { ours: object; theirs: object | null }> {
  const path = join(folder, "app.zip");
  try {
    await verified(archive);
    writeFileSync(path, archive);
    const ours = contents(treeOf(await extracted(path)));
    const { tree, exitCode } = await unzipped(path, folder);
    return { ours, theirs: exitCode === 0 ? contents(tree) : null };
  } catch (error) {
    if (error instanceof ArchiveRefused) return "refused";
    throw error;
  }
}

describe.skipIf(!hasUnzip)(`an accepted archive has the same files as with unzip${reason}`, () => {
  beforeAll(() => {
    const env = { ...process.env, LC_ALL: "C.UTF-8" };
    shell = spawn("/bin/sh", ["-c", unzipAll], { stdio: ["pipe", "pipe", "inherit"], env });
    exitCodes = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  });
  afterAll(() => shell.stdin.end());

  it("for any tree, packed in any way", async () => {
    const folder = scratch();
    await fc.assert(
      fc.asyncProperty(treeArbitrary, async (entries) => {
        // unzip reports an archive without entries as an error.
        fc.pre(entries.length > 0);
        const outcome = await bothRead(forge(entries), folder);
        if (outcome === "refused") expect.fail("an honest archive was refused");
        expect(outcome.theirs).toEqual(outcome.ours);
      }),
      { numRuns: 25 },
    );
  });

  it.each(Object.entries(sampleArchives("plain.txt")))("for %s with one byte changed", async (_, archive) => {
    const folder = scratch();
    const differences: unknown[] = [];
    for (let at = 0; at < archive.length; at += 1) {
      const damaged = Buffer.from(archive);
      damaged.writeUInt8(archive.readUInt8(at) ^ (1 << (at % 8)), at);
      const outcome = await bothRead(damaged, folder);
      if (outcome !== "refused" && JSON.stringify(outcome.ours) !== JSON.stringify(outcome.theirs))
        differences.push({ at, ...outcome });
    }
    expect(differences).toEqual([]);
  });

  it("for every printable character in a name, from every host", async () => {
    const folder = scratch();
    const forbidden = new Set(["/", "\\"]);
    const characters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)).filter(
      (c) => !forbidden.has(c),
    );
    for (const host of [0, 3, 10, 19]) {
      const entries = characters.map(
        (character, index): ForgedEntry => ({
          name: `${index}_${character}${character}.x`,
          data: character,
          madeBy: host * 256 + 20,
        }),
      );
      const outcome = await bothRead(forge(entries), folder);
      if (outcome === "refused") expect.fail(`refused for host ${host}`);
      expect(outcome.theirs).toEqual(outcome.ours);
    }
  });

  it.each<[string, ForgedEntry[]]>([
    [
      "links",
      [
        { name: "d/f", data: "1", ...unixFile },
        { name: "l", data: "d/f", ...unixLink },
        { name: "d/up", data: "../d", deflate: true, ...unixLink },
      ],
    ],
    ["backslashes of DOS", [{ name: "x\\y\\f", data: "1", madeBy: 20 }]],
    ["dots and needless separators", [{ name: "./x//./f", data: "1" }]],
    ["a comment that mentions the end", [{ name: "f", data: "PK\x05\x06 and PK\x01\x02 and PK\x03\x04" }]],
    ["UTF-8 without the flag", [{ name: "naïve.txt", data: "1", ...unixFile }]],
  ])("for %s", async (_, entries) => {
    const folder = scratch();
    const path = join(folder, "app.zip");
    writeFileSync(path, forge(entries));
    // unzip only warns about backslashes (exit code 1) and extracts the same tree.
    const { tree } = await unzipped(path, folder);
    expect(contents(tree)).toEqual(contents(treeOf(await extracted(path))));
  });
});
