import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { openArchive } from "../../../../buildpack/zip/archive.ts";
import { isLeftover } from "../../../../buildpack/zip/leftover.ts";
import { ArchiveRefused, quoteName } from "../../../../buildpack/zip/refused.ts";
import { type ForgedEntry, forge } from "./forge.ts";
import { refusal, remote, sourceOf, verified } from "./opened.ts";
import { patched } from "./refusals.ts";

const MiB = 1024 * 1024;

/** Bytes that deflate cannot make smaller: it looks back 32 KiB only. */
function noise(length: number): Buffer {
  const tile = Buffer.alloc(40_000);
  for (let at = 0, state = 1; at < tile.length; at += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    tile.writeUInt32LE(state, at);
  }
  return Buffer.alloc(length, tile);
}

describe("ranged reading", () => {
  it("a small archive costs a single read", async () => {
    const source = remote(forge([{ name: "a", data: "1" }]));
    await (await openArchive(source)).verify();
    expect(source.reads).toHaveLength(1);
  });

  it("one of exactly 8 MiB too", async () => {
    const source = remote(forge([{ name: "a", data: Buffer.alloc(8 * MiB - 100) }]));
    await (await openArchive(source)).verify();
    expect(source.reads).toEqual([[0, 8 * MiB]]);
  });

  it("a large one is read in windows of 4 MiB, three in flight, each byte once", async () => {
    const filler = noise(700_000);
    const files = Array.from({ length: 40 }, (_, n) => ({ name: `f${n}`, data: filler }));
    const large = noise(9 * MiB);
    const bytes = forge([
      ...files,
      { name: "large", data: large },
      { name: "middle", data: noise(3 * MiB), deflate: true },
      { name: "last", data: large },
      { name: "end", data: "end" },
    ]);
    const source = remote(bytes);
    const archive = await openArchive(source);
    expect(source.reads).toEqual([[bytes.length - MiB, MiB]]);
    await archive.verify();
    const windows = source.reads.slice(1);
    const directoryOffset = bytes.readUInt32LE(bytes.length - 6);
    const places = Array.from({ length: Math.ceil(directoryOffset / (4 * MiB)) }, (_, index) => index * 4 * MiB);
    const inSource = places.filter((place) => place < bytes.length - MiB);
    expect(windows).toEqual(inSource.map((place) => [place, Math.min(4 * MiB, directoryOffset - place)]));
    expect(source.inFlightMost).toBe(3);
  });

  it("no read is in flight after verify has refused", async () => {
    const filler = Buffer.alloc(9 * MiB);
    const source = remote(
      forge([
        { name: "a", data: "1", packed: Buffer.from("2") },
        { name: "b", data: filler },
        { name: "c", data: filler },
      ]),
    );
    const archive = await openArchive(source);
    await expect(archive.verify()).rejects.toThrow(ArchiveRefused);
    expect(source.reads.length).toBeGreaterThan(2);
    expect(source.inFlight).toBe(0);
  });

  it("a source that fails is not the archive's fault", async () => {
    const bytes = forge([{ name: "b", data: noise(20 * MiB) }]);
    const read = async (offset: number, length: number) => {
      if (offset > 0 && offset < 17 * MiB) throw new Error("connection reset");
      // Long enough for the failed read to be an unhandled rejection.
      await new Promise((resolve) => setTimeout(resolve, 10));
      return bytes.subarray(offset, offset + length);
    };
    const archive = await openArchive({ size: bytes.length, read });
    await expect(archive.verify()).rejects.toThrow("connection reset");
  });

  it("a source that gives less than its size is incomplete", async () => {
    const bytes = forge([{ name: "b", data: "1" }]);
    await expect(openArchive({ ...sourceOf(bytes), size: bytes.length + 1 })).rejects.toMatchObject({
      rule: "truncated",
    });
  });
});

describe("handing over contents", () => {
  const large = noise(5 * MiB);
  const zeros = (name: string, size: number): ForgedEntry => {
    const data = Buffer.alloc(size);
    return { name, data, deflate: true, packed: deflateRawSync(data, { level: 1 }) };
  };
  const files: ForgedEntry[] = [
    { name: "small.txt", data: "small", deflate: true },
    { name: "skipped.bin", data: "skipped" },
    { name: "folder/" },
    { name: "stored.bin", data: large },
    { name: "packed.bin", data: large, deflate: true, packed: deflateRawSync(large, { level: 1 }) },
    zeros("huge.bin", 33 * MiB),
  ];
  const zip = forge(files);

  it("gives the wanted files up to 32 MiB, in file order, and no folders", async () => {
    const archive = await openArchive(sourceOf(zip));
    const given = new Map<string, Buffer>();
    const unpacked = new Map<string, number>();
    await archive.verify(
      (entry, bytes, pack) => {
        given.set(entry.path, Buffer.from(bytes));
        unpacked.set(entry.path, pack()().length);
      },
      { wants: ({ path }) => path !== "skipped.bin" },
    );
    expect([...given.keys()]).toEqual(["small.txt", "stored.bin", "packed.bin"]);
    expect([...unpacked.values()]).toEqual([5, large.length, large.length]);
    expect(given.get("stored.bin")?.equals(large)).toBe(true);
    expect(given.get("packed.bin")?.equals(large)).toBe(true);
  });

  it("gives a file of exactly 32 MiB, and none that is not wanted", async () => {
    const archive = await openArchive(sourceOf(forge([zeros("limit.bin", 32 * MiB), zeros("skipped.bin", 3 * MiB)])));
    const given: [string, number][] = [];
    await archive.verify(({ path }, bytes) => void given.push([path, bytes.length]), {
      wants: ({ path }) => path !== "skipped.bin",
    });
    expect(given).toEqual([["limit.bin", 32 * MiB]]);
  });

  it("streams files over 2 MiB and no others", async () => {
    const stored = (name: string, size: number) => ({ name, data: Buffer.alloc(size) });
    const entries = [
      stored("over.bin", 2 * MiB + 1),
      stored("limit.bin", 2 * MiB),
      stored("late.bin", 1),
      zeros("zeros.bin", 2 * MiB + 1),
    ];
    const archive = await openArchive(sourceOf(forge(entries)));
    const streamed: string[] = [];
    await archive.verify(undefined, {
      streams: ({ path }) => {
        streamed.push(path);
        return null;
      },
    });
    expect(streamed).toEqual(["over.bin", "zeros.bin"]);
  });

  it("streams files over 2 MiB on request, and waits for slow readers of small ones", async () => {
    const archive = await openArchive(sourceOf(zip));
    const events: string[] = [];
    let streamed = 0;
    await archive.verify(
      async ({ path }) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        events.push(path);
      },
      {
        streams: ({ path }) => ({
          write: (piece) => {
            streamed += piece.length;
          },
          close: () => void events.push(`closed ${path}`),
        }),
      },
    );
    expect(events).toEqual(["small.txt", "skipped.bin", "closed stored.bin", "closed packed.bin", "closed huge.bin"]);
    expect(streamed).toBe(43 * MiB);
  });

  it("the returned bytes may be kept and changed", async () => {
    const archive = await openArchive(sourceOf(zip));
    await archive.verify((_, bytes) => void bytes.fill(0));
    await archive.verify((_, bytes) => void bytes.fill(0));
    const stored = archive.find("skipped.bin") ?? expect.fail("it is missing");
    (await archive.read(stored)).fill(0);
    expect(Buffer.from(await archive.read(stored)).toString()).toBe("skipped");
  });

  it("a stream never gets more than the size that the archive says", async () => {
    const lying = { name: "l", data: Buffer.alloc(9 * MiB), deflate: true, size: 3 * MiB };
    const archive = await openArchive(sourceOf(forge([lying])));
    let streamed = 0;
    const write = (piece: Uint8Array) => {
      streamed += piece.length;
    };
    await expect(archive.verify(undefined, { streams: () => ({ write, close: () => {} }) })).rejects.toThrow(
      ArchiveRefused,
    );
    expect(streamed).toBeLessThanOrEqual(3 * MiB);
  });

  it("reads and checks a single file", async () => {
    const archive = await openArchive(
      sourceOf(forge([...files, { name: "bad", data: "good", packed: Buffer.from("evil") }])),
    );
    const entry = (path: string) => archive.find(path) ?? expect.fail(`${path} is missing`);
    expect(Buffer.from(await archive.read(entry("small.txt"))).toString()).toBe("small");
    expect(Buffer.from(await archive.read(entry("packed.bin"))).equals(large)).toBe(true);
    await expect(archive.read(entry("bad"))).rejects.toMatchObject({ rule: "crc_mismatch", entry: "bad" });
    await expect(archive.read(entry("small.txt"), 4)).rejects.toMatchObject({ rule: "file_too_large" });
    await expect(archive.read(entry("huge.bin"))).rejects.toMatchObject({ rule: "file_too_large" });
  });

  it("an error of the taker comes out unchanged", async () => {
    const archive = await openArchive(sourceOf(zip));
    const taker = () => {
      throw new Error("disk full");
    };
    await expect(archive.verify(taker)).rejects.toThrow("disk full");
    await expect(archive.verify(undefined, { streams: () => ({ write: taker, close: () => {} }) })).rejects.toThrow(
      "disk full",
    );
  });
});

describe("large contents are checked like small ones", () => {
  const data = noise(3 * MiB);
  const packed = deflateRawSync(data, { level: 1 });
  const entry: ForgedEntry = { name: "l", data, deflate: true, packed };

  it.each<[string, ForgedEntry, string]>([
    ["a wrong checksum", { ...entry, crc: 1 }, "crc_mismatch"],
    ["a wrong checksum, stored", { name: "l", data, crc: 1 }, "crc_mismatch"],
    ["more than the size", { ...entry, size: data.length - 1 }, "size_mismatch"],
    ["less than the size", { ...entry, size: data.length + 1 }, "size_mismatch"],
    ["bytes behind the packed ones", { ...entry, packed: Buffer.concat([packed, Buffer.alloc(10)]) }, "size_mismatch"],
    [
      "megabytes behind the packed ones",
      { ...entry, packed: Buffer.concat([packed, Buffer.alloc(5 * MiB)]) },
      "size_mismatch",
    ],
    ["packed bytes that break off", { ...entry, packed: packed.subarray(0, -9) }, "bad_data"],
    [
      "damaged packed bytes",
      { ...entry, packed: Buffer.concat([packed.subarray(0, MiB), Buffer.alloc(3 * MiB, 0xff)]) },
      "bad_data",
    ],
    ["another name in the file", { ...entry, local: { name: "m" } }, "header_mismatch"],
    ["a wrong descriptor", { ...entry, descriptor: Buffer.alloc(16) }, "bad_descriptor"],
    [
      "a wrong descriptor that the local header alone announces",
      { ...entry, descriptor: Buffer.alloc(16), central: { flags: 0 } },
      "bad_descriptor",
    ],
  ])("%s is refused", async (_, forged, rule) => {
    const error = await refusal(forge([forged, { name: "end" }]));
    expect({ rule: error.rule, entry: error.entry }).toEqual({ rule, entry: "l" });
  });

  it("bytes behind it are refused", async () => {
    const error = await refusal(forge([entry, { name: "end", before: Buffer.alloc(5) }]));
    expect({ rule: error.rule, entry: error.entry }).toEqual({ rule: "gap", entry: "l" });
  });

  it("a header that says it is longer is refused", async () => {
    const error = await refusal(patched(forge([{ name: "l", data }]), 28, 500));
    expect({ rule: error.rule, entry: error.entry }).toEqual({ rule: "overlap", entry: "l" });
  });

  it("and accepted when they are right", async () => {
    const zip = forge([
      { ...entry, descriptor: "honest" },
      { ...entry, name: "m", descriptor: "wide", central: { flags: 0 } },
      { name: "s", data: noise(4 * MiB) },
    ]);
    expect([...(await verified(zip)).files.values()].map((file) => file.length)).toEqual([3 * MiB, 3 * MiB, 4 * MiB]);
  });
});

it("names in messages are quoted, escaped and short", async () => {
  expect(quoteName('a"b\\c')).toBe('"a\\"b\\\\c"');
  expect(quoteName("\x1b[31m\u202egpj.exe\n\u2028")).toBe('"\\u{1b}[31m\\u{202e}gpj.exe\\u{a}\\u{2028}"');
  expect(quoteName("x".repeat(5000)).length).toBeLessThan(210);
  expect(quoteName("\n".repeat(5000)).length).toBeLessThan(210);
  const error = await refusal(forge([{ name: `${"\x1b]0;".repeat(300)}` }]));
  expect(error.message).toMatch(/^[\x20-\x7e…]{0,500}$/);
});

it.each([
  ["__MACOSX", true],
  ["__MACOSX/app/._index.js", true],
  ["app/__MACOSX", true],
  ["__MACOSX/x", true],
  ["app/__MACOSX/x", true],
  [".DS_Store", true],
  ["app/.DS_Store", true],
  ["app/._index.js", true],
  ["Thumbs.db", true],
  ["app/Desktop.ini", true],
  ["app/index.js", false],
  ["app/DS_Store", false],
  ["__MACOSX.txt", false],
  ["my__MACOSX/x", false],
  ["my__MACOSX", false],
  ["_.js", false],
])("%s: leftover %s", (path, leftover) => {
  expect(isLeftover(path)).toBe(leftover);
});
