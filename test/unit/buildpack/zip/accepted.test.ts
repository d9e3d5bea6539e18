import { describe, expect, it } from "vitest";
import {
  endRecord,
  extraField,
  type ForgedEntry,
  forge,
  manyFiles,
  pack,
  unicodePath,
  unixFile,
  unixLink,
} from "./forge.ts";
import { verified } from "./opened.ts";
import { a, b, packedText, text } from "./refusals.ts";

type Accepted = [sentence: string, archive: Buffer, files: Record<string, string>];

const dosFolder = { madeBy: 20, external: 0x10 };
const streamed = (descriptor: ForgedEntry["descriptor"], entry: ForgedEntry = packedText): Buffer =>
  forge([{ ...entry, descriptor }, b]);
const streamedFiles = { "p.txt": text, "b.txt": "second file" };
const wide = { size: 0xffffffff, compressedSize: 0xffffffff };
/** "日.j" in Shift JIS. */
const twoBytes = Buffer.from([0x93, 0xfa, 0x2e, 0x6a]);
const wideEnd = { entries: 0xffff, entriesHere: 0xffff, directoryBytes: 0xffffffff, directoryOffset: 0xffffffff };

const groups: Record<string, Accepted[]> = {
  "the end of the file": [
    ["an archive of nothing", forge([]), {}],
    ["an archive of nothing with a comment", forge([], { comment: "nothing" }), {}],
    ["a comment of 64 KiB", forge([a], { comment: "c".repeat(65_535) }), { "a.txt": "first" }],
    [
      "a comment that mentions the signature",
      forge([a], { comment: "PK\x05\x06 marks the end of a zip" }),
      { "a.txt": "first" },
    ],
    ["a comment that ends in the signature", forge([a], { comment: "marked by PK\x05\x06" }), { "a.txt": "first" }],
    [
      "an archive stored in an archive",
      forge([{ name: "in.zip", data: forge([a]) }]),
      { "in.zip": forge([a]).toString("latin1") },
    ],
    ["zip64 that nothing needs", forge([a], { zip64: {} }), { "a.txt": "first" }],
    ["zip64 with all numbers in it", forge([a], { zip64: {}, ...wideEnd }), { "a.txt": "first" }],
    [
      "zip64 with the directory's size in it",
      forge([a], { zip64: {}, directoryBytes: 0xffffffff }),
      { "a.txt": "first" },
    ],
    [
      "zip64 with the directory's place in it",
      forge([a], { zip64: {}, directoryOffset: 0xffffffff }),
      { "a.txt": "first" },
    ],
    [
      "an end record in the comment whose directory has no place before it",
      forge([a], { comment: endRecord({}, { entries: 1, directoryBytes: 60_000, directoryOffset: 10 }) }),
      { "a.txt": "first" },
    ],
    ["zip64 of nothing", forge([], { zip64: {} }), {}],
    ["zip64 with disks unknown", forge([a], { zip64: {}, disk: 0xffff, directoryDisk: 0xffff }), { "a.txt": "first" }],
  ],
  "sizes and descriptors": [
    ["a descriptor", streamed("honest"), streamedFiles],
    ["a descriptor without signature", streamed("unsigned"), streamedFiles],
    ["a descriptor of zip64", streamed("wide"), streamedFiles],
    ["a descriptor of zip64 without signature", streamed("wide-unsigned"), streamedFiles],
    ["a descriptor behind a stored file", streamed("honest", { name: "p.txt", data: text }), streamedFiles],
    [
      "a descriptor though the sizes were known",
      forge([{ ...packedText, descriptor: "honest", local: { size: text.length } }]),
      { "p.txt": text },
    ],
    ...(["honest", "unsigned", "wide", "wide-unsigned"] as const).map(
      (descriptor): Accepted => [
        `a descriptor (${descriptor}) that the local header alone announces`,
        streamed(descriptor, { ...packedText, central: { flags: 0 } }),
        streamedFiles,
      ],
    ),
    [
      "a descriptor that the local header alone announces though the sizes were known",
      forge([{ ...b, descriptor: "honest", central: { flags: 0 }, local: { size: 11, compressedSize: 11 } }]),
      { "b.txt": "second file" },
    ],
    [
      "a file that contains descriptors and headers",
      streamed("honest", { name: "p.txt", data: forge([{ ...a, descriptor: "honest" }]) }),
      { ...streamedFiles, "p.txt": forge([{ ...a, descriptor: "honest" }]).toString("latin1") },
    ],
    [
      "zip64 sizes",
      forge([
        {
          ...b,
          central: { ...wide, extra: extraField(1, pack([11, 8], [11, 8])) },
          local: { ...wide, extra: extraField(1, pack([11, 8], [11, 8])) },
        },
      ]),
      { "b.txt": "second file" },
    ],
    [
      "zip64 sizes and offset",
      forge([
        a,
        { ...b, central: { ...wide, offset: 0xffffffff, extra: extraField(1, pack([11, 8], [11, 8], [40, 8])) } },
      ]),
      { "a.txt": "first", "b.txt": "second file" },
    ],
    [
      "a full zip64 row beside sizes that need none",
      forge([{ ...b, central: { extra: extraField(1, pack([11, 8], [11, 8], [0, 8], [0, 4])) } }]),
      { "b.txt": "second file" },
    ],
    [
      "an empty zip64 field",
      forge([{ ...packedText, descriptor: "honest", local: { extra: extraField(1, Buffer.alloc(0)) } }]),
      { "p.txt": text },
    ],
    [
      "zeros of zip64 in a streamed file",
      forge([{ ...packedText, descriptor: "wide", local: { ...wide, extra: extraField(1, Buffer.alloc(16)) } }]),
      { "p.txt": text },
    ],
    [
      "a level of compression noted in one place",
      forge([{ ...packedText, flags: 2, local: { flags: 0 } }]),
      { "p.txt": text },
    ],
    ["an empty file, packed", forge([{ name: "e", deflate: true }]), { e: "" }],
    [
      "fields that align the contents",
      forge([{ ...b, local: { extra: Buffer.alloc(7) } }]),
      { "b.txt": "second file" },
    ],
    [
      "fields of jar, times and owners",
      forge([
        {
          ...b,
          extra: Buffer.concat([
            extraField(0xcafe, Buffer.alloc(0)),
            extraField(0x5455, Buffer.alloc(5)),
            extraField(0x7875, Buffer.alloc(11)),
          ]),
        },
      ]),
      { "b.txt": "second file" },
    ],
    [
      "comments on entries",
      forge([{ ...b, comment: Buffer.from("about b") }, a]),
      { "b.txt": "second file", "a.txt": "first" },
    ],
    [
      "a directory in another order than the files",
      forge([{ ...a, name: "b.txt", central: { name: "b.txt" } }, { name: "a.txt" }]),
      { "b.txt": "first", "a.txt": "" },
    ],
  ],
  names: [
    [
      "backslashes of old Windows writers",
      forge([
        { name: "x\\", ...dosFolder },
        { name: "x\\y\\f", data: "1" },
      ]),
      { "x/y/f": "1" },
    ],
    ["a dot in front", forge([{ name: "./" }, { name: "./x/" }, { name: "./x/f", data: "1" }]), { "x/f": "1" }],
    ["needless separators", forge([{ name: "x//./f", data: "1" }]), { "x/f": "1" }],
    ["UTF-8 with the flag", forge([{ name: "naïve/日本.txt", flags: 0x800 }]), { "naïve/日本.txt": "" }],
    ["UTF-8 without the flag", forge([{ name: "naïve/日本.txt" }]), { "naïve/日本.txt": "" }],
    ["UTF-8 with accents apart, as macOS writes it", forge([{ name: "nai\u0308ve" }]), { "nai\u0308ve": "" }],
    ["code page 437", forge([{ name: Buffer.from([0x81, 0x62, 0x65, 0x72]) }]), { über: "" }],
    ["the first letter of code page 437", forge([{ name: Buffer.from([0x80, 0x61]) }]), { Ça: "" }],
    [
      "a second name for one of a code page with two bytes for a letter",
      forge([{ name: twoBytes, extra: unicodePath(twoBytes, "日.j") }]),
      { "日.j": "" },
    ],
    ["a second name of one letter", forge([{ name: "e", extra: unicodePath("e", "e") }]), { e: "" }],
    ["a file whose name begins a folder's", forge([{ name: "a" }, { name: "ab/c" }]), { a: "", "ab/c": "" }],
    ["a second name that is the same", forge([{ name: "é", flags: 0x800, extra: unicodePath("é", "é") }]), { é: "" }],
    [
      "a second name for one of another code page",
      forge([
        {
          name: Buffer.from([0x62, 0xe4, 0x2e, 0x6a]),
          extra: unicodePath(Buffer.from([0x62, 0xe4, 0x2e, 0x6a]), "bä.j"),
        },
      ]),
      { "bä.j": "" },
    ],
    [
      "dots, brackets and blanks",
      forge([{ name: ".env" }, { name: "app/[...slug]/page one.tsx" }, { name: "a..b/..c" }]),
      { ".env": "", "app/[...slug]/page one.tsx": "", "a..b/..c": "" },
    ],
    ["folders in two spellings", forge([{ name: "Src/a" }, { name: "src/b" }]), { "Src/a": "", "src/b": "" }],
    ["a part of 255 bytes", forge([{ name: "n".repeat(255) }]), { ["n".repeat(255)]: "" }],
    ["very deep folders", forge([{ name: `${"d/".repeat(500)}f` }]), { [`${"d/".repeat(500)}f`]: "" }],
  ],
  folders: [
    [
      "listed before, after and not at all",
      forge([{ name: "x/" }, { name: "x/f" }, { name: "y/f" }, { name: "y/" }, { name: "z/f" }]),
      { "x/f": "", "y/f": "", "z/f": "" },
    ],
    ["marked by the name alone", forge([{ name: "x/" }]), {}],
    ["packed to two bytes", forge([{ name: "x/", deflate: true }]), {}],
    ["packed to nothing", forge([{ name: "x/", deflate: true, packed: Buffer.alloc(0) }]), {}],
    [
      "packed with a descriptor, as streaming writers do",
      forge([{ name: "x/", deflate: true, descriptor: "honest" }]),
      {},
    ],
  ],
};

describe.each(Object.entries(groups))("%s", (_, rows) => {
  it.each(rows)("%s: accepted", async (_sentence, archive, files) => {
    expect(Object.fromEntries((await verified(archive)).files)).toEqual(files);
  });
});

it("an archive without zip64 may count its entries modulo 65,536, as macOS does", async () => {
  const { archive } = await verified(manyFiles(65_537));
  expect(archive.entries).toHaveLength(65_537);
});

describe("kinds and modes", () => {
  it("the executable bit of Unix is kept, and attributes of other systems do not set it", async () => {
    const { entries } = await verified(
      forge([
        { name: "run", ...unixFile, external: 0o100755 * 0x10000 },
        { name: "read", ...unixFile },
        { name: "dos", madeBy: 20, external: 0x20 },
        { name: "labeled", madeBy: 0x0314, external: 0o100644 * 0x10000 + 8 },
        { name: "folder/", madeBy: 0x0314, external: 0o040755 * 0x10000 },
      ]),
    );
    expect(entries.get("run")).toMatchObject({ kind: "file", executable: true, mode: 0o755 });
    expect(entries.get("read")).toMatchObject({ kind: "file", executable: false, mode: 0o644 });
    expect(entries.get("dos")).toMatchObject({ kind: "file", executable: false, mode: 0 });
    // On Unix, this bit is no volume label.
    expect(entries.get("labeled")).toMatchObject({ kind: "file", mode: 0o644 });
    expect(entries.get("folder")).toMatchObject({ kind: "directory", executable: false, mode: 0o755 });
  });

  it("a link has its target once it is verified, even when it leads through others or to nothing", async () => {
    const { archive, entries } = await verified(
      forge([
        { name: "x/y/f" },
        { name: "x/link", data: "../x/y", ...unixLink },
        { name: "through", data: "x/link/../y/f", deflate: true, ...unixLink },
        { name: "nowhere", data: "missing/file", ...unixLink },
        { name: "here", data: ".", ...unixLink },
      ]),
    );
    expect(entries.get("x/link")).toMatchObject({ kind: "symlink", linkTarget: "../x/y" });
    expect(entries.get("through")?.linkTarget).toBe("x/link/../y/f");
    expect(entries.get("nowhere")?.linkTarget).toBe("missing/file");
    expect(entries.get("here")?.linkTarget).toBe(".");
    expect(archive.find("x/y/f")?.linkTarget).toBeNull();
  });

  it("a folder has no separator at its end, and the top folder is a dot", async () => {
    const { archive } = await verified(forge([{ name: "./" }, { name: "x\\y\\" }]));
    expect(archive.entries.map(({ path, kind }) => [path, kind])).toEqual([
      [".", "directory"],
      ["x/y", "directory"],
    ]);
  });
});
