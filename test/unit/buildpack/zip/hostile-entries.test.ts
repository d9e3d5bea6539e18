import { crc32, deflateRawSync } from "node:zlib";
import { extraField, type ForgedEnd, type ForgedEntry, forge, pack, unicodePath } from "./forge.ts";
import { a, b, describeRefusals, packedText, patched, text } from "./refusals.ts";

const one = (entry: ForgedEntry, end?: Partial<ForgedEnd>) => forge([a, entry], end);
const streamed = (descriptor: Buffer): ForgedEntry => ({ ...packedText, descriptor });
const trueSizes = [
  [deflateRawSync(text).length, 4],
  [text.length, 4],
] as const;
const descriptorOfText = pack([0x08074b50, 4], [crc32(text), 4], ...trueSizes);
/** A name in an undeclared code page. */
const legacy = Buffer.from([0x62, 0xe4, 0x2e, 0x6a]);

describeRefusals({
  "the two headers": [
    ["another name in the file", one({ ...b, local: { name: "c.txt" } }), "header_mismatch", "b.txt"],
    ["the same name in another case in the file", one({ ...b, local: { name: "B.txt" } }), "header_mismatch", "b.txt"],
    ["another method in the file", one({ ...b, local: { method: 8 } }), "header_mismatch", "b.txt"],
    ["another method in the directory", one({ ...packedText, local: { method: 0 } }), "header_mismatch", "p.txt"],
    ["another size in the file", one({ ...b, local: { size: 5 } }), "header_mismatch", "b.txt"],
    ["another packed size in the file", one({ ...b, local: { compressedSize: 5 } }), "header_mismatch", "b.txt"],
    ["another checksum in the file", one({ ...b, local: { crc: 5 } }), "header_mismatch", "b.txt"],
    [
      "sizes of zero without the flag for it",
      one({ ...b, local: { crc: 0, size: 0, compressedSize: 0 } }),
      "header_mismatch",
      "b.txt",
    ],
    [
      "a wrong size beside a descriptor",
      one({ ...b, descriptor: "honest", local: { size: 5 } }),
      "header_mismatch",
      "b.txt",
    ],
    ["encryption in the file only", one({ ...b, local: { flags: 1 } }), "header_mismatch", "b.txt"],
    ["a descriptor in the file only", one({ ...b, local: { flags: 8 } }), "header_mismatch", "b.txt"],
    ["UTF-8 in the file only", one({ ...b, local: { flags: 0x800 } }), "header_mismatch", "b.txt"],
    [
      "no header where the directory says",
      one({ ...b, written: false, before: Buffer.alloc(46), central: { offset: 40 } }),
      "header_mismatch",
      "b.txt",
    ],
    ["a damaged signature", patched(forge([a]), 0, 0), "header_mismatch", "a.txt"],
  ],
  "additional fields": [
    [
      "one that is cut off",
      one({ ...b, central: { extra: pack([0x5455, 2], [9, 2], [0, 4]) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "one that is cut off in the file",
      one({ ...b, local: { extra: pack([0x5455, 2], [9, 2], [0, 4]) } }),
      "bad_extra_field",
      "b.txt",
    ],
    ["loose bytes at the end", one({ ...b, central: { extra: Buffer.from("abc") } }), "bad_extra_field", "b.txt"],
    ["a second name", one({ ...b, extra: unicodePath("b.txt", "evil.txt") }), "bad_extra_field", "b.txt"],
    [
      "a second name in the file only",
      one({ ...b, local: { extra: unicodePath("b.txt", "evil.txt") } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name that leads out",
      one({
        name: Buffer.from("\x82.txt", "latin1"),
        data: "",
        extra: unicodePath(Buffer.from("\x82.txt", "latin1"), "é/../../e.txt"),
      }),
      "bad_extra_field",
      "é.txt",
    ],
    [
      "two second names",
      one({ ...b, extra: Buffer.concat([unicodePath("b.txt", "b.txt"), unicodePath("b.txt", "c.txt")]) }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name of another version",
      one({ ...b, extra: unicodePath("b.txt", "b.txt", 2) }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name for another first",
      one({ ...b, extra: unicodePath("c.txt", "b.txt") }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name that is no UTF-8",
      one({
        ...b,
        extra: extraField(0x7075, Buffer.concat([Buffer.from([1]), pack([crc32("b.txt"), 4]), Buffer.from([0xff])])),
      }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name that is no UTF-8, for a first in a code page",
      one({
        name: legacy,
        extra: extraField(
          0x7075,
          Buffer.concat([Buffer.from([1]), pack([crc32(legacy), 4]), Buffer.from([0x62, 0xff, 0x2e, 0x6a])]),
        ),
      }),
      "bad_extra_field",
      "bΣ.j",
    ],
    [
      "two second names in the two places",
      one({ name: legacy, extra: unicodePath(legacy, "bä.j"), local: { extra: unicodePath(legacy, "bö.j") } }),
      "header_mismatch",
      "bä.j",
    ],
    [
      "a second name that is cut off",
      one({ ...b, extra: extraField(0x7075, Buffer.alloc(3, 1)) }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a second name that is empty",
      one({ ...b, extra: extraField(0x7075, Buffer.alloc(5, 1)) }),
      "bad_extra_field",
      "b.txt",
    ],
  ],
  contents: [
    ["a wrong checksum", one({ ...b, crc: 1 }), "crc_mismatch", "b.txt"],
    ["a checksum of zero", one({ ...b, crc: 0 }), "crc_mismatch", "b.txt"],
    ["changed bytes", one({ ...b, packed: Buffer.from("second fiIe") }), "crc_mismatch", "b.txt"],
    ["a stored file of two sizes", one({ ...b, size: 12 }), "size_mismatch", "b.txt"],
    ["more than the size says", one({ ...packedText, size: text.length - 1 }), "size_mismatch", "p.txt"],
    ["less than the size says", one({ ...packedText, size: text.length + 1 }), "size_mismatch", "p.txt"],
    [
      "far more than the size says",
      one({ name: "z", data: Buffer.alloc(5_000_000), deflate: true, size: 10 }),
      "size_mismatch",
      "z",
    ],
    [
      "packed bytes that nothing needs",
      one({ ...packedText, packed: Buffer.concat([deflateRawSync(text), Buffer.from("hidden")]) }),
      "size_mismatch",
      "p.txt",
    ],
    [
      "packed bytes that break off",
      one({ ...packedText, packed: deflateRawSync(text).subarray(0, -4) }),
      "bad_data",
      "p.txt",
    ],
    [
      "packed bytes that make no sense",
      one({ ...packedText, packed: Buffer.from([0x07, 0xff, 0xff]) }),
      "bad_data",
      "p.txt",
    ],
    [
      "a packed empty file without any bytes",
      one({ name: "e", deflate: true, packed: Buffer.alloc(0) }),
      "bad_data",
      "e",
    ],
    ["a folder with contents", one({ name: "d/", data: "content" }), "kind_mismatch", "d"],
    [
      "a folder with far too many packed bytes",
      one({ name: "d/", deflate: true, packed: Buffer.alloc(70_000) }),
      "size_mismatch",
      "d",
    ],
  ],
  "data descriptors": [
    ["none though the flag says so", one(streamed(Buffer.alloc(0))), "bad_descriptor", "p.txt"],
    ["another checksum", one(streamed(pack([0x08074b50, 4], [1, 4], ...trueSizes))), "bad_descriptor", "p.txt"],
    ["a checksum of zero", one(streamed(pack([0x08074b50, 4], [0, 4], ...trueSizes))), "bad_descriptor", "p.txt"],
    [
      "another packed size",
      one(streamed(pack([0x08074b50, 4], [crc32(text), 4], [1, 4], [text.length, 4]))),
      "bad_descriptor",
      "p.txt",
    ],
    ["another size, unsigned", one(streamed(pack([crc32(text), 4], trueSizes[0], [1, 4]))), "bad_descriptor", "p.txt"],
    [
      "another size, wide",
      one(streamed(pack([0x08074b50, 4], [crc32(text), 4], [trueSizes[0][0], 8], [1, 8]))),
      "bad_descriptor",
      "p.txt",
    ],
    [
      "another signature",
      one(streamed(pack([0x09074b50, 4], [crc32(text), 4], ...trueSizes))),
      "bad_descriptor",
      "p.txt",
    ],
    ["more bytes than one has", one(streamed(Buffer.alloc(18))), "bad_descriptor", "p.txt"],
    [
      "one that only the directory announces",
      one({ ...b, descriptor: "honest", local: { flags: 0 } }),
      "header_mismatch",
      "b.txt",
    ],
    [
      "another checksum behind a file whose local header alone announces one",
      one({ ...streamed(pack([0x08074b50, 4], [1, 4], ...trueSizes)), central: { flags: 0 } }),
      "bad_descriptor",
      "p.txt",
    ],
    [
      "another size behind a file whose local header alone announces one",
      one({ ...streamed(pack([crc32(text), 4], trueSizes[0], [1, 4])), central: { flags: 0 } }),
      "bad_descriptor",
      "p.txt",
    ],
    [
      "a wrong size in a local header that alone announces one",
      one({ ...packedText, descriptor: "honest", central: { flags: 0 }, local: { size: 5 } }),
      "header_mismatch",
      "p.txt",
    ],
    [
      "bytes behind a descriptor that the local header alone announces",
      one({ ...streamed(Buffer.concat([descriptorOfText, Buffer.from("more")])), central: { flags: 0 } }),
      "bad_descriptor",
      "p.txt",
    ],
  ],
  "methods and flags": [
    ["a password", one({ ...b, flags: 1 }), "encrypted", "b.txt"],
    ["strong encryption", one({ ...b, flags: 0x41 }), "encrypted", "b.txt"],
    ["hidden headers", one({ ...b, flags: 0x2000 }), "encrypted", "b.txt"],
    ["AES", one({ ...b, method: 99 }), "encrypted", "b.txt"],
    ["an AES field", one({ ...b, extra: extraField(0x9901, Buffer.alloc(7)) }), "encrypted", "b.txt"],
    ["a field of strong encryption", one({ ...b, extra: extraField(0x0017, Buffer.alloc(4)) }), "encrypted", "b.txt"],
    ["Deflate64", one({ ...b, method: 9 }), "unsupported_method", "b.txt"],
    ["BZIP2", one({ ...b, method: 12 }), "unsupported_method", "b.txt"],
    ["LZMA", one({ ...b, method: 14 }), "unsupported_method", "b.txt"],
    ["Zstandard", one({ ...b, method: 93 }), "unsupported_method", "b.txt"],
    ["an unknown compression method", one({ ...b, method: 1234 }), "unsupported_method", "b.txt"],
    ["patches", one({ ...b, flags: 0x20 }), "unsupported_method", "b.txt"],
    ["a version that unzip skips", one({ ...b, version: 63 }), "unsupported_method", "b.txt"],
    ["reserved flags", one({ ...b, flags: 0x4000 }), "unsupported_flags", "b.txt"],
  ],
});
