import { describe, expect, it } from "vitest";
import { openArchive } from "../../../../buildpack/zip/archive.ts";
import type { StoredEntry } from "../../../../buildpack/zip/entry.ts";
import { widen } from "../../../../buildpack/zip/extra-fields.ts";
import { layOut } from "../../../../buildpack/zip/layout.ts";
import { type ArchiveLimits, archiveLimits } from "../../../../buildpack/zip/limits.ts";
import { entryPath } from "../../../../buildpack/zip/name.ts";
import { quoteName } from "../../../../buildpack/zip/refused.ts";
import { foldPath } from "../../../../buildpack/zip/tree.ts";
import { packedBytes } from "../../../../buildpack/zip/visitors.ts";
import { extraField, type ForgedEntry, forge, pack, unicodePath, unixLink } from "./forge.ts";
import { refusal, remote, sourceOf, verified } from "./opened.ts";

const MiB = 1024 * 1024;
const small: ArchiveLimits = {
  ...archiveLimits,
  unpackedBytesMax: 3 * MiB,
  entriesMax: 3,
  nameBytesMax: 100,
  segmentBytesMax: 80,
  linkBytesMax: 20,
};
const one = (entry: Partial<ForgedEntry>) => forge([{ name: "a", data: "1", ...entry }]);
const numbers = pack([1, 8], [1, 8]);
const method = (number: number) => one({ method: number });
const link = (name: string, data: string) => ({ name, data, ...unixLink });

describe("a refusal says in detail", () => {
  it.each<[archive: Buffer, message: string, limits?: ArchiveLimits]>([
    [
      Buffer.alloc(2 * MiB + 1),
      "The archive is too large: at most 2 MiB are allowed (",
      { ...small, zippedBytesMax: 2 * MiB },
    ],
    [
      one({ name: "n".repeat(70_000 / 100), comment: Buffer.alloc(60_000) }),
      "files and folders: the list of them is larger than 0 MiB (",
      { ...small, directoryBytesMax: 50_000 },
    ],
    [forge(["a", "b", "c", "d"].map((name) => ({ name }))), "files and folders: at most 3 are allowed (", small],
    [
      forge(["a", "b"].map((name) => ({ name, data: Buffer.alloc(2 * MiB) }))),
      '"b" in the archive is too large once unpacked: the files up to this one have more than 3 MiB together (',
      small,
    ],
    [
      forge([link("a", "target"), link("b", "target")]),
      "files and folders: the targets of its links have more than 0 MiB together (",
      { ...small, linksTotalBytesMax: 11 },
    ],
    [one({ name: "n".repeat(101) }), "has a name that is too long: over 100 bytes (", small],
    [one({ name: `d/${"n".repeat(81)}` }), "has a name that is too long: a part of it is over 80 bytes (", small],
    [method(9), "with a method that is not supported: Deflate64 ("],
    [method(12), "not supported: BZIP2 ("],
    [method(14), "not supported: LZMA ("],
    [method(93), "not supported: Zstandard ("],
    [method(95), "not supported: XZ ("],
    [method(98), "not supported: PPMd ("],
    [method(77), "not supported: method 77 ("],
    [method(99), '"a" in the archive is encrypted (rule encrypted). '],
    [one({ flags: 0x20 }), "not supported: patched data ("],
    [one({ version: 51 }), "not supported: it needs version 5.1 of the zip format ("],
    [forge([link("l", "x".repeat(21))]), "cannot be used: it is over 20 bytes long (", small],
    [
      one({ data: Buffer.alloc(3 * MiB), deflate: true }),
      "than its packed size suggests: 3 MiB out of ",
      { ...archiveLimits, ratioFreeBytes: 1, ratioMax: 2 },
    ],
    [one({ name: Buffer.from([0x61, 0xff]), flags: 0x0800 }), "cannot be used: it is not valid UTF-8 ("],
    [one({ name: Buffer.from([0x61, 0xff]) }), "it contains a byte that is not valid in any supported encoding ("],
    [one({ name: "" }), "cannot be used: it is empty ("],
    [one({ name: "a\x07" }), "cannot be used: it holds control characters ("],
    [one({ name: "a/." }), "cannot be used: it ends in a dot ("],
    [one({ name: "a;1" }), "cannot be used: it ends in a semicolon and a number ("],
    [one({ name: "a;12" }), "it ends in a semicolon and a number ("],
    [forge([{ name: "a" }], { prefix: Buffer.from("x") }), "that belong to no file: before its first file ("],
    [forge([{ name: "a" }], { afterDirectory: Buffer.from("x") }), "to no file: around its list of contents ("],
    [one({ extra: Buffer.concat([extraField(1, numbers), extraField(1, numbers)]) }), "one of them occurs twice ("],
    [one({ extra: unicodePath("a", "a", 2) }), "its second name is not valid ("],
    [one({ extra: unicodePath("a", "b") }), "it has two different names ("],
    [
      forge([link("Here", "x"), link("a", "here/y")]),
      "cannot be used: it leads through another link whose name differs in case (",
    ],
  ])("%#", async (archive, message, limits) => {
    expect((await refusal(archive, limits)).message).toContain(message);
  });

  it("what every rule means and what to do", async () => {
    expect((await refusal(Buffer.from("no zip at all"))).message).toBe(
      "The archive is not a zip archive (rule not_a_zip). Upload a .zip file.",
    );
  });
});

describe("what is exactly at a limit is accepted", () => {
  it.each<[archive: Buffer, limits: Partial<ArchiveLimits>]>([
    [forge([{ name: "a", data: "12345" }]), { unpackedBytesMax: 5 }],
    [forge([{ name: "a".repeat(64) }]), { nameBytesMax: 64, segmentBytesMax: 64 }],
    [forge([link("a", "target")]), { linkBytesMax: 6, linksTotalBytesMax: 6 }],
    [forge([{ name: "a/x" }, { name: "b/x" }]), { entriesMax: 2 }],
    [forge([{ name: "a", data: "12345" }]), { ratioFreeBytes: 4, ratioMax: 1 }],
    [forge([{ name: "a", data: "x".repeat(99), deflate: true }]), { ratioFreeBytes: 99, ratioMax: 5 }],
    [forge([{ name: "a", version: 46 }]), {}],
    [forge([{ name: "a/", deflate: true }]), { linkBytesMax: 1 }],
  ])("%#", async (archive, limits) => {
    const { archive: opened } = await verified(archive, { ...archiveLimits, ...limits });
    expect(opened.entries.length).toBeGreaterThan(0);
  });

  it("the archive and its directory too", async () => {
    const bytes = forge([{ name: "a", data: "12345" }]);
    const directoryBytes = 46 + 1;
    const limits = { ...archiveLimits, zippedBytesMax: bytes.length, directoryBytesMax: directoryBytes };
    expect((await verified(bytes, limits)).files.get("a")).toBe("12345");
  });
});

describe("the numbers of zip64", () => {
  const max = 0xffffffff;
  const field = (...values: number[]) => {
    const bytes = Buffer.alloc(values.length * 8);
    for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), index * 8);
    return bytes;
  };
  const stated = { size: 5, compressedSize: 4, offset: 3, disk: 0 };
  const disk = Buffer.alloc(4);

  it.each([
    [stated, null, stated],
    [stated, field(), stated],
    [stated, field(5, 4, 3), stated],
    [stated, Buffer.concat([field(5, 4, 3), disk]), stated],
    [{ ...stated, offset: max }, field(2 ** 33), { ...stated, offset: 2 ** 33 }],
    [{ ...stated, offset: max }, field(5, 4, 2 ** 33), undefined],
    [{ ...stated, size: max }, field(2 ** 33, 4), { ...stated, size: 2 ** 33 }],
    [{ ...stated, size: max }, field(2 ** 33, 6), undefined],
    [
      { ...stated, size: max, compressedSize: max },
      field(2 ** 33, 2 ** 32),
      { ...stated, size: 2 ** 33, compressedSize: 2 ** 32 },
    ],
    [{ ...stated, size: max }, null, undefined],
    [{ ...stated, compressedSize: max }, null, undefined],
    [{ ...stated, offset: max }, null, undefined],
    [{ ...stated, size: max }, Buffer.alloc(7), undefined],
    [stated, field(5, 4).subarray(0, 12), undefined],
    [stated, Buffer.concat([field(5, 4, 3), disk, disk]), undefined],
    [{ ...stated, disk: 0xffff }, disk, stated],
  ])("%#: %j", (numbers, bytes, wide) => {
    const read = () => widen(numbers, bytes, "a");
    if (wide) expect(read()).toEqual(wide);
    else expect(read).toThrow("its zip64 sizes contradict its other sizes (rule bad_extra_field)");
  });
});

describe("the places of entries", () => {
  const entry = (path: string, offset: number, compressedSize = 0) =>
    ({ path, offset, compressedSize, nameLength: 1 }) as StoredEntry;
  const spare = 0xffff + 24;

  it("are in the order of the file, each to the beginning of the next", () => {
    const laid = layOut([entry("c", 62), entry("a", 0), entry("b", 31)], 93);
    expect(laid.map(({ path, offset, end }) => [path, offset, end])).toEqual([
      ["a", 0, 31],
      ["b", 31, 62],
      ["c", 62, 93],
    ]);
  });

  it("have room for extra fields and a descriptor, and no more", () => {
    expect(layOut([entry("a", 0)], 31 + spare)).toHaveLength(1);
    expect(() => layOut([entry("a", 0)], 31 + spare + 1)).toThrow("(rule gap)");
    expect(() => layOut([entry("a", 0)], 30)).toThrow("(rule overlap)");
    expect(() => layOut([entry("a", 1)], 40)).toThrow("belong to no file: before its first file (rule gap)");
  });
});

describe("links", () => {
  it.each([
    ["./m", "link_loop"],
    [".//m", "link_loop"],
    ["a/./../../x", "link_escape"],
    ["a//../../x", "link_escape"],
    ["a/../../x", "link_escape"],
  ])("to %s are refused: %s", async (target, rule) => {
    const archive = forge([{ name: "d/e/f", data: "1" }, link("a", "d/e"), link("m", target)]);
    expect((await refusal(archive)).rule).toBe(rule);
  });

  it.each(["1y:z", "./x", "a/../x"])("to %s are accepted", async (target) => {
    const archive = forge([{ name: "d/e/f", data: "1" }, link("a", "d/e"), link("m", target)]);
    expect((await verified(archive)).archive.find("m")?.linkTarget).toBe(target);
  });
});

describe("a part of an archive", () => {
  const KiB = 1024;
  const zeros = (name: string, bytes: number) => ({ name, data: Buffer.alloc(bytes) });

  it("is read with the wanted files and the links, neighbors at once, and nothing else", async () => {
    const bytes = forge([
      { name: "a", data: "first" },
      zeros("x", 100 * KiB),
      { name: "b", data: "second", deflate: true },
      zeros("y", 200 * KiB),
      { name: "c", data: "third" },
      zeros("z", 3 * MiB),
      { name: "e", data: "fifth" },
      { name: "f", data: "sixth" },
      zeros("film", 9 * MiB),
      { name: "folder/", local: { name: "f0lder/" } },
      link("l", "a"),
      { name: "d", data: "not wanted" },
    ]);
    const reads: [number, number][] = [];
    const source = sourceOf(bytes);
    const archive = await openArchive({
      size: bytes.length,
      read: (offset, length) => {
        reads.push([offset, length]);
        return source.read(offset, length);
      },
    });
    const given: string[] = [];
    const unpacked: string[] = [];
    await archive.verifySelected(
      ({ path }) => !["d", "x", "y", "z", "film"].includes(path),
      ({ path }, contents, pack) => {
        given.push(`${path}: ${Buffer.from(contents)}`);
        unpacked.push(Buffer.from(pack()()).toString());
      },
    );
    expect(given).toEqual(["a: first", "b: second", "c: third", "e: fifth", "f: sixth"]);
    expect(unpacked).toEqual(["first", "second", "third", "fifth", "sixth"]);
    expect(archive.find("l")?.linkTarget).toBe("a");
    const [tail, together, alone, pair, ...rest] = reads;
    expect(tail).toEqual([bytes.length - MiB, MiB]);
    expect(together?.[0]).toBe(0);
    expect(Math.floor((together?.[1] ?? 0) / KiB)).toBe(100);
    expect(alone?.[0]).toBeGreaterThan(300 * KiB);
    expect(alone?.[1]).toBeLessThan(100);
    expect(pair?.[0]).toBeGreaterThan(3 * MiB);
    expect(pair?.[1]).toBeLessThan(100);
    expect(rest).toEqual([]);
  });

  it("leaves out files over 32 MiB, whose contents are not looked at", async () => {
    const archive = await openArchive(
      sourceOf(
        forge([
          { name: "a", data: "1" },
          { name: "film", data: "x", deflate: true, size: 32 * MiB + 1 },
        ]),
      ),
    );
    const given: string[] = [];
    await archive.verifySelected(
      () => true,
      ({ path }) => void given.push(path),
    );
    expect(given).toEqual(["a"]);
    const lying = forge([{ name: "film", data: "x", deflate: true, size: 32 * MiB }]);
    const one = await openArchive(sourceOf(lying));
    await expect(
      one.verifySelected(
        () => true,
        () => {},
      ),
    ).rejects.toMatchObject({ rule: "size_mismatch" });
  });

  it("has at most 16 MiB more than one range in flight, and no read after a refusal", async () => {
    const data = Buffer.alloc(6 * MiB);
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    const bytes = forge([
      ...names.map((name) => ({ name, data })),
      { name: "bad", data: "1", crc: 1 },
      zeros("z", MiB),
    ]);
    const source = remote(bytes);
    const archive = await openArchive(source);
    await archive.verifySelected(
      ({ path }) => names.includes(path),
      () => {},
    );
    expect(source.inFlightMost).toBe(3);
    const taker = () => {
      throw new Error("disk full");
    };
    await expect(archive.verifySelected(({ path }) => names.includes(path), taker)).rejects.toThrow("disk full");
    expect(source.inFlight).toBe(0);
  });

  it("is read in at most eight ranges at the same time", async () => {
    const wanted = Array.from({ length: 20 }, (_, index) => [
      { name: `w${index}`, data: `${index}` },
      zeros(`x${index}`, 140 * KiB),
    ]).flat();
    const bytes = forge([...wanted, zeros("film", 8 * MiB)]);
    const source = remote(bytes);
    const archive = await openArchive(source);
    const given: string[] = [];
    await archive.verifySelected(
      ({ path }) => path.startsWith("w"),
      (_, contents) => void given.push(Buffer.from(contents).toString()),
    );
    expect(given).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`));
    expect(source.inFlightMost).toBe(8);
  });

  it("is one file, up to a size", async () => {
    const archive = await openArchive(
      sourceOf(
        forge([
          { name: "a", data: "first" },
          { name: "b", data: "x".repeat(99), deflate: true },
        ]),
      ),
    );
    const entry = (path: string) => archive.find(path) ?? expect.fail(`${path} is missing`);
    expect(Buffer.from(await archive.read(entry("a"), 5)).toString()).toBe("first");
    expect(Buffer.from(await archive.read(entry("b"), 99)).toString()).toBe("x".repeat(99));
    await expect(archive.read(entry("a"), 4)).rejects.toMatchObject({ rule: "file_too_large", entry: "a" });
    await expect(archive.read(entry("b"), 98)).rejects.toMatchObject({ rule: "file_too_large" });
    const other = await openArchive(sourceOf(forge([{ name: "z" }])));
    await expect(other.read(entry("a"))).rejects.toThrow(RangeError);
  });
});

it.each([
  ["a/./b//c", "a/b/c", false],
  ["a\\b\\", "a/b", true],
  ["a//b", "a/b", false],
  ["a/./", "a", true],
  ["a//", "a", true],
  ["./", ".", true],
  ["dir/", "dir", true],
  [".a/..b", ".a/..b", false],
  ["1y:z", "1y:z", false],
  ["a;1x", "a;1x", false],
  ["a; 1b;", undefined, false],
  ["a:", undefined, false],
])("the path of the name %j is %j", (name, path, folder) => {
  const read = () => entryPath(name, archiveLimits);
  if (path === undefined) expect(read).toThrow();
  else expect(read()).toEqual({ path, folder });
});

it.each([
  ["ABC", "abc"],
  ["STRASSE", foldPath("straße")],
  ["É", foldPath("e\u0301")],
])("the file system may take %j for %j", (path, other) => {
  expect(foldPath(path)).toBe(foldPath(other));
});

it("a long name is shown by its beginning and end", () => {
  const name = `${"a".repeat(120)}${"b".repeat(100)}${"c".repeat(60)}`;
  expect(quoteName(name)).toBe(`"${"a".repeat(120)}…${"c".repeat(60)}"`);
  expect(quoteName("d".repeat(200))).toBe(`"${"d".repeat(200)}"`);
  expect(quoteName("\n".repeat(200))).toBe(`"${"\\u{a}".repeat(40)}…"`);
});

it.each([
  [2 * MiB, 10, 10],
  [2 * MiB + 1, 10, 2 * MiB + 1],
  [10, 2 * MiB, 2 * MiB],
  [10, 2 * MiB + 1, 10],
])("of a file of %i bytes, packed to %i, %i are kept", (size, compressedSize, kept) => {
  expect(packedBytes({ size, compressedSize } as StoredEntry)).toBe(kept);
});

it("a stored file of two sizes is refused before its contents are read", async () => {
  await expect(openArchive(sourceOf(one({ size: 2 })))).rejects.toMatchObject({ rule: "size_mismatch", entry: "a" });
});

describe("the limits of the service", () => {
  const film = (index: number, size: number) => ({ name: `film${index}`, data: "x", deflate: true, size });
  const films = (count: number) => Array.from({ length: count }, (_, index) => film(index, 256 * MiB));
  /** An archive that is too large to be made: only its end is read. */
  const large = (size: number, directoryBytes: number) => {
    const end = forge([], { entries: 1, entriesHere: 1, directoryBytes, directoryOffset: size - 22 - directoryBytes });
    return { size, read: async (_: number, length: number) => Buffer.concat([Buffer.alloc(length - 22), end]) };
  };
  const links = (count: number) => Array.from({ length: count }, (_, index) => link(`${index}`, "x".repeat(1024)));

  it.each([
    ["an archive", large(512 * MiB + 1, 0), "too_large", "at most 512 MiB"],
    ["a directory", large(50 * MiB, 40 * MiB + 1), "too_many_entries", "larger than 40 MiB"],
    ["a file from a few bytes", sourceOf(forge([film(1, 256 * MiB + 500)])), "bomb", "256 MiB out of 3 bytes"],
    ["files unpacked", sourceOf(forge(films(9))), "unpacked_too_large", "more than 2048 MiB"],
    ["links", sourceOf(forge(links(8 * 1024 + 1))), "too_many_entries", "more than 8 MiB"],
  ])("%s beyond them", async (_what, source, rule, message) => {
    await expect(openArchive(source)).rejects.toMatchObject({
      rule,
      message: expect.stringMatching(
        new RegExp(`${message}.* \\(rule ${rule}\\)\\. Leave out what the build can make`),
      ),
    });
  });

  it("what is exactly at them", async () => {
    expect((await openArchive(sourceOf(forge(films(8))))).entries).toHaveLength(8);
    await expect(openArchive(large(512 * MiB, 40 * MiB))).rejects.toMatchObject({ rule: "bad_directory" });
  });
});
