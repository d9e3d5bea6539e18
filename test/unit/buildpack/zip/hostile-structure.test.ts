import { crc32, deflateRawSync } from "node:zlib";
import { endRecord, extraField, type ForgedEnd, type ForgedEntry, forge, pack } from "./forge.ts";
import { a, b, describeRefusals, packedText, patched } from "./refusals.ts";

const one = (entry: ForgedEntry, end?: Partial<ForgedEnd>) => forge([a, entry], end);
const wideOnly = { entries: 0xffff, directoryBytes: 0xffffffff, directoryOffset: 0xffffffff };
const wideZip = (end: Partial<ForgedEnd>) => forge([a, b], { zip64: {}, ...wideOnly, entriesHere: 0xffff, ...end });

/** An archive whose zip64 record has other bytes at a place, counted from the end of the file. */
function zip64At(place: number, value: number): Buffer {
  const archive = wideZip({});
  return patched(archive, archive.length + place, value);
}

/** A whole second archive hidden in the comment of the first, with correct offsets for its position. */
function archiveInComment(shown: Buffer, hidden: string): Buffer {
  const inner = forge([{ name: hidden, data: "evil" }]);
  return forge([{ name: "shown.txt", data: shown }], { comment: inner });
}

/** One content, packed once, that many entries share (D. Fifield's bomb): each header lies in the stored block before it. */
function sharedContents(): Buffer {
  const kernel = deflateRawSync(Buffer.alloc(1000));
  const shared: ForgedEntry = { name: "0", packed: kernel, method: 8, size: 1000, crc: crc32(Buffer.alloc(1000)) };
  return forge([shared, { ...shared, name: "1", written: false, offset: 0 }]);
}

describeRefusals({
  "the end of the file": [
    ["nothing at all", Buffer.alloc(0), "not_a_zip"],
    ["text", Buffer.from("#!/bin/sh\necho hello, this is no archive\n"), "not_a_zip"],
    ["a gzip file", Buffer.from("1f8b0800000000000003cb48cdc9c95728cf2fca49010047b5", "hex"), "not_a_zip"],
    ["an upload that was interrupted in the files", forge([a, b]).subarray(0, 60), "truncated"],
    ["an upload that was interrupted in the end record", forge([a, b]).subarray(0, -5), "truncated"],
    [
      "an upload that was interrupted in the comment",
      forge([a], { comment: "a longer comment" }).subarray(0, -3),
      "truncated",
    ],
    ["an upload that was interrupted in the first header", forge([a]).subarray(0, 4), "truncated"],
    [
      "an upload of nothing but a comment that was interrupted",
      forge([], { comment: "a longer comment" }).subarray(0, -3),
      "truncated",
    ],
    ["bytes after the end", forge([a], { suffix: Buffer.from("more") }), "trailing_data"],
    ["zeros after the end", forge([a], { suffix: Buffer.alloc(512) }), "trailing_data"],
    ["more bytes after the end than a comment has", forge([a], { suffix: Buffer.alloc(70_000) }), "truncated"],
    ["a comment that is longer than it says", forge([a], { comment: "comment", commentLength: 3 }), "trailing_data"],
    [
      "a second end record in the comment",
      forge([a], { comment: endRecord({}, { entries: 0, directoryBytes: 0, directoryOffset: 0 }) }),
      "ambiguous_end",
    ],
    [
      "a second end record with bytes after it in the comment",
      forge([a], {
        comment: Buffer.concat([
          endRecord({}, { entries: 0, directoryBytes: 0, directoryOffset: 0 }),
          Buffer.from("!"),
        ]),
      }),
      "ambiguous_end",
    ],
    ["a whole archive in the comment", archiveInComment(Buffer.from("x"), "evil.txt"), "ambiguous_end"],
    ["an archive that follows another", Buffer.concat([forge([a]), forge([b])]), "gap"],
    [
      "an archive that follows another and counts from the start",
      Buffer.concat([
        forge([a]),
        forge([{ ...b, central: { offset: forge([a]).length } }], { directoryOffset: forge([a]).length + 46 }),
      ]),
      "gap",
    ],
    ["the first part of a split archive", forge([a], { disk: 1 }), "multi_disk"],
    ["disks that only zip64 could name", forge([a], { disk: 0xffff }), "multi_disk"],
    ["a directory on another disk", forge([a], { directoryDisk: 1 }), "multi_disk"],
    ["a file on another disk", forge([a, { ...b, disk: 2 }]), "multi_disk", "b.txt"],
  ],
  "the directory": [
    ["fewer entries counted than listed", forge([a, b], { entries: 1, entriesHere: 1 }), "bad_directory"],
    ["more entries counted than listed", forge([a, b], { entries: 3, entriesHere: 3 }), "bad_directory"],
    ["two counts that differ", forge([a, b], { entriesHere: 1 }), "bad_directory"],
    ["a directory said to be longer", forge([a, b], { directoryBytes: 103 }), "bad_directory"],
    ["a directory said to start later", forge([a, b], { directoryOffset: 87 }), "bad_directory"],
    ["a directory said to start earlier", forge([a, b], { directoryOffset: 85 }), "gap"],
    ["a directory that ends before the end record", forge([a, b], { afterDirectory: Buffer.from("....") }), "gap"],
    [
      "a signature behind the directory",
      forge([a], { afterDirectory: pack([0x05054b50, 4], [0, 2]), directoryBytes: 57 }),
      "bad_directory",
    ],
    [
      "the beginning of an entry behind the directory",
      forge([a], { afterDirectory: pack([0x02014b50, 4], [0, 8]), directoryBytes: 63 }),
      "bad_directory",
    ],
    ["a damaged signature", patched(forge([a]), 40, 0), "bad_directory"],
    ["a name that reaches over the end", patched(forge([a]), 40 + 28, 200), "bad_directory"],
  ],
  zip64: [
    ["a locator that points elsewhere", wideZip({ zip64: { recordOffset: 1 } }), "bad_directory"],
    [
      "a locator without a record",
      Buffer.concat([
        pack([0x07064b50, 4], [0, 4], [0, 8], [1, 4]),
        endRecord({}, { entries: 0, directoryBytes: 0, directoryOffset: 0 }),
      ]),
      "bad_directory",
    ],
    ["a record without a locator", wideZip({ zip64: { locator: false } }), "bad_directory"],
    ["a record without a locator that nothing asks for", forge([a], { zip64: { locator: false } }), "gap"],
    ["a record with room for another directory", wideZip({ zip64: { extensible: Buffer.alloc(64) } }), "bad_directory"],
    ["a record that says another length", wideZip({ zip64: { recordBytes: 64 } }), "bad_directory"],
    ["bytes between record and locator", wideZip({ zip64: { between: Buffer.alloc(8) } }), "bad_directory"],
    ["a record that says another count", forge([a, b], { zip64: { entries: 1 } }), "ambiguous_end"],
    ["a record that says another directory", forge([a, b], { zip64: { directoryOffset: 41 } }), "ambiguous_end"],
    ["counts in the record that differ", wideZip({ zip64: { entriesHere: 1 } }), "bad_directory"],
    ["a count in the record that is not true", wideZip({ zip64: { entries: 3 } }), "bad_directory"],
    ["a record on another disk", wideZip({ zip64: { disk: 1 } }), "multi_disk"],
    ["a locator of another disk", zip64At(-42 + 4, 1), "multi_disk"],
    ["a record of a directory on another disk", zip64At(-98 + 20, 1), "multi_disk"],
    ["a record without its signature", zip64At(-98, 0), "bad_directory"],
    ["a locator of several disks", wideZip({ zip64: { disks: 2 } }), "multi_disk"],
    ["a size that is nowhere", one({ ...b, central: { size: 0xffffffff } }), "bad_extra_field", "b.txt"],
    [
      "a size of zip64 that is not used but differs",
      one({ ...b, central: { extra: extraField(1, pack([99, 8], [99, 8])) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a size of zip64 in the file only that differs",
      one({ ...b, local: { extra: extraField(1, pack([99, 8], [11, 8])) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a zip64 field that is too short",
      one({ ...b, central: { size: 0xffffffff, extra: extraField(1, pack([11, 4])) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a zip64 field that is too long",
      one({ ...b, central: { size: 0xffffffff, extra: extraField(1, pack([11, 8], [7, 4])) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "two zip64 fields",
      one({
        ...b,
        central: {
          size: 0xffffffff,
          extra: Buffer.concat([extraField(1, pack([11, 8])), extraField(1, pack([5, 8]))]),
        },
      }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a row that differs by position and by order",
      one({ ...b, central: { compressedSize: 0xffffffff, extra: extraField(1, pack([11, 8], [5, 8])) } }),
      "bad_extra_field",
      "b.txt",
    ],
    [
      "a size beyond all numbers",
      one({ ...packedText, central: { size: 0xffffffff, extra: extraField(1, Buffer.alloc(8, 0xff)) } }),
      "bomb",
      "p.txt",
    ],
  ],
  "the order of bytes": [
    ["bytes before the first file", forge([a], { prefix: Buffer.from("#!/bin/sh\n") }), "gap"],
    ["a program before the archive, offsets untouched", Buffer.concat([Buffer.from("MZ......"), forge([a])]), "gap"],
    ["bytes between two files", one({ ...b, before: Buffer.from("hidden") }), "gap", "a.txt"],
    ["very many bytes between two files", one({ ...b, before: Buffer.alloc(100_000) }), "gap", "a.txt"],
    ["bytes before the directory", forge([a, b], { beforeDirectory: Buffer.from("hidden") }), "gap", "b.txt"],
    ["a file that the directory does not list", forge([a, { ...b, listed: false }]), "gap", "a.txt"],
    ["a file before the first listed one", forge([{ ...b, listed: false }, a]), "gap"],
    ["two entries with one content", sharedContents(), "overlap", "1"],
    ["an entry that lies inside of another", one({ ...b, central: { offset: 10 } }), "overlap", "b.txt"],
    [
      "an entry that reaches into the directory",
      one({ ...b, central: { size: 100, compressedSize: 100 } }),
      "overlap",
      "b.txt",
    ],
    ["an entry that starts behind the directory", one({ ...b, central: { offset: 5000 } }), "overlap", "b.txt"],
    ["a local header that says it is longer", patched(forge([a]), 28, 500), "overlap", "a.txt"],
  ],
});
