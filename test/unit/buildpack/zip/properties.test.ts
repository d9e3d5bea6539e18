import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { openArchive } from "../../../../buildpack/zip/archive.ts";
import { ArchiveRefused } from "../../../../buildpack/zip/refused.ts";
import { fc } from "../../../harness/fast-check.ts";
import { forge } from "./forge.ts";
import { sourceOf, verified } from "./opened.ts";
import { sampleArchives, treeArbitrary } from "./trees.ts";

/** The contents by path, or the reason of the refusal; any other error fails the test. */
async function readOrRefused(bytes: Buffer): Promise<Record<string, string> | ArchiveRefused> {
  try {
    const { files, entries } = await verified(bytes);
    for (const { path, linkTarget } of entries.values()) if (linkTarget !== null) files.set(path, linkTarget);
    return Object.fromEntries([...files].toSorted());
  } catch (error) {
    if (error instanceof ArchiveRefused) return error;
    throw error;
  }
}

it("any tree comes out as it went in, however it was packed", async () => {
  await fc.assert(
    fc.asyncProperty(treeArbitrary, async (entries) => {
      const { files } = await verified(forge(entries));
      const wanted = entries.filter(({ name }) => !`${name}`.endsWith("/"));
      const contents = wanted.map(({ name, data = "" }) => [`${name}`, Buffer.from(data).toString("latin1")]);
      expect(Object.fromEntries(files)).toEqual(Object.fromEntries(contents));
    }),
    { numRuns: 150 },
  );
});

describe.each(Object.entries(sampleArchives()))("damage to %s", (_, archive) => {
  it("one changed byte: refused, or the contents are the same", async () => {
    const whole = await readOrRefused(archive);
    expect(whole).not.toBeInstanceOf(ArchiveRefused);
    const changed: string[] = [];
    let refused = 0;
    for (let at = 0; at < archive.length; at += 1) {
      for (const flip of [0x80, 0xff, 1 + ((at * 89) % 127)]) {
        const damaged = Buffer.from(archive);
        damaged.writeUInt8(archive.readUInt8(at) ^ flip, at);
        const outcome = await readOrRefused(damaged);
        if (outcome instanceof ArchiveRefused) refused += 1;
        else if (!isDeepStrictEqual(outcome, whole)) changed.push(`byte ${at} xor ${flip}`);
      }
    }
    expect(changed).toEqual([]);
    expect(refused).toBeGreaterThan(archive.length);
  });

  it("cut off anywhere: refused", async () => {
    const accepted: number[] = [];
    for (let length = 0; length < archive.length; length += 1) {
      if (!((await readOrRefused(archive.subarray(0, length))) instanceof ArchiveRefused)) accepted.push(length);
    }
    expect(accepted).toEqual([]);
  });

  it("one piece removed, doubled or overwritten by another: refused, or the contents are the same", async () => {
    const whole = await readOrRefused(archive);
    const position = fc.nat(archive.length);
    await fc.assert(
      fc.asyncProperty(position, position, position, fc.nat(2), async (from, to, at, kind) => {
        const piece = archive.subarray(Math.min(from, to), Math.max(from, to));
        const rest = archive.subarray(kind === 2 ? Math.min(archive.length, at + piece.length) : at);
        const parts =
          kind === 0
            ? [archive.subarray(0, Math.min(from, to)), archive.subarray(Math.max(from, to))]
            : [archive.subarray(0, at), piece, rest];
        const outcome = await readOrRefused(Buffer.concat(parts));
        if (!(outcome instanceof ArchiveRefused)) expect(outcome).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });
});

it("bytes that belong to no entry are refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
      await expect(openArchive(sourceOf(bytes))).rejects.toBeInstanceOf(ArchiveRefused);
    }),
  );
});
