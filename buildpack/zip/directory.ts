import type { EndRecord } from "./end-record.ts";
import { namedInUtf8, type StoredEntry, usesDescriptor } from "./entry.ts";
import { readExtraFields, widen } from "./extra-fields.ts";
import { entryKind } from "./kind.ts";
import type { ArchiveLimits } from "./limits.ts";
import { decodeName, entryPath, unicodeName } from "./name.ts";
import { ArchiveRefused } from "./refused.ts";

const signature = 0x02014b50;
const fixedBytes = 46;
const stored = 0;
const deflate = 8;
const methodNames = new Map([
  [9, "Deflate64"],
  [12, "BZIP2"],
  [14, "LZMA"],
  [93, "Zstandard"],
  [95, "XZ"],
  [98, "PPMd"],
]);
const encryption = 0x0001 | 0x0040 | 0x2000;
const patched = 0x0020;
const deflateLevel = 0x0006;
/** Info-ZIP skips entries that need more than version 4.6; the supported methods need at most 4.5. */
const versionMax = 46;

/** Reads the directory, and checks every rule that concerns a single entry of it. */
export function readDirectory(directory: Buffer, end: EndRecord, limits: ArchiveLimits): StoredEntry[] {
  const entries: StoredEntry[] = [];
  let unpackedBytes = 0;
  let linkBytes = 0;
  for (let at = 0; at < directory.length; ) {
    if (at + fixedBytes > directory.length || directory.readUInt32LE(at) !== signature) {
      throw new ArchiveRefused("bad_directory");
    }
    const tailBytes = directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    const next = at + fixedBytes + directory.readUInt16LE(at + 28) + tailBytes;
    if (next > directory.length) throw new ArchiveRefused("bad_directory");
    if (entries.length === limits.entriesMax) throw tooManyEntries(limits);
    const entry = readEntry(directory, at, limits);
    unpackedBytes += entry.size;
    if (unpackedBytes > limits.unpackedBytesMax) {
      throw new ArchiveRefused(
        "unpacked_too_large",
        entry.path,
        `the files up to this one have more than ${inMiB(limits.unpackedBytesMax)} together`,
      );
    }
    if (entry.kind === "symlink") linkBytes += entry.size;
    if (linkBytes > limits.linksTotalBytesMax) {
      throw new ArchiveRefused(
        "too_many_entries",
        undefined,
        `the targets of its links have more than ${inMiB(limits.linksTotalBytesMax)} together`,
      );
    }
    entries.push(entry);
    at = next;
  }
  const counted = end.countsModulo ? entries.length % 0x10000 : entries.length;
  if (counted !== end.entries) throw new ArchiveRefused("bad_directory");
  return entries;
}

/** The refusal for more entries, or more folders implied by their names, than the limit. */
export function tooManyEntries(limits: ArchiveLimits): ArchiveRefused {
  return new ArchiveRefused("too_many_entries", undefined, `at most ${limits.entriesMax} are allowed`);
}

/** A limit as messages show it. */
export function inMiB(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

function readEntry(directory: Buffer, at: number, limits: ArchiveLimits): StoredEntry {
  const flags = directory.readUInt16LE(at + 8);
  const method = directory.readUInt16LE(at + 10);
  const nameStart = at + fixedBytes;
  const nameLength = directory.readUInt16LE(at + 28);
  const nameEnd = nameStart + nameLength;
  const first = decodeName(directory, nameStart, nameEnd, (flags & namedInUtf8) !== 0);
  if (nameLength > limits.nameBytesMax) {
    throw new ArchiveRefused("name_too_long", first, `over ${limits.nameBytesMax} bytes`);
  }
  const extra = readExtraFields(directory, nameEnd, nameEnd + directory.readUInt16LE(at + 30), first);
  const name =
    extra.unicodePath === null ? first : unicodeName(extra.unicodePath, directory.subarray(nameStart, nameEnd), first);
  checkReadable(name, flags, method, directory.readUInt16LE(at + 6));
  const { path, folder } = entryPath(name, limits);
  const external = directory.readUInt32LE(at + 38);
  const kind = entryKind(name, folder, directory.readUInt16LE(at + 4), external);
  const stated = {
    compressedSize: directory.readUInt32LE(at + 20),
    size: directory.readUInt32LE(at + 24),
    disk: directory.readUInt16LE(at + 34),
    offset: directory.readUInt32LE(at + 42),
  };
  const { size, compressedSize, offset, disk } = widen(stated, extra.zip64, name);
  if (disk !== 0) throw new ArchiveRefused("multi_disk", name);
  const mode = (external >>> 16) & 0o777;
  const entry: StoredEntry = {
    path,
    kind,
    size,
    compressedSize,
    mode,
    executable: kind === "file" && (mode & 0o111) !== 0,
    linkTarget: null,
    deflated: method === deflate,
    flags,
    crc32: directory.readUInt32LE(at + 16),
    offset,
    end: offset,
    nameStart,
    nameLength,
  };
  checkSizes(entry, limits);
  return entry;
}

function checkReadable(name: string, flags: number, method: number, version: number): void {
  if ((flags & encryption) !== 0 || method === 99) throw new ArchiveRefused("encrypted", name);
  if (method !== stored && method !== deflate) {
    throw new ArchiveRefused("unsupported_method", name, methodNames.get(method) ?? `method ${method}`);
  }
  if ((flags & patched) !== 0) throw new ArchiveRefused("unsupported_method", name, "patched data");
  if ((flags & ~(deflateLevel | usesDescriptor | namedInUtf8)) !== 0) {
    throw new ArchiveRefused("unsupported_flags", name);
  }
  if ((version & 0xff) > versionMax) {
    throw new ArchiveRefused("unsupported_method", name, `it needs version ${(version & 0xff) / 10} of the zip format`);
  }
}

function checkSizes(entry: StoredEntry, limits: ArchiveLimits): void {
  const { path, kind, size, compressedSize, deflated } = entry;
  if (kind === "directory" && size > 0) throw new ArchiveRefused("kind_mismatch", path);
  if (kind === "symlink" && size > limits.linkBytesMax) {
    throw new ArchiveRefused("bad_link", path, `it is over ${limits.linkBytesMax} bytes long`);
  }
  if (kind !== "file" && compressedSize > 2 * limits.linkBytesMax) throw new ArchiveRefused("size_mismatch", path);
  if (!deflated && size !== compressedSize) throw new ArchiveRefused("size_mismatch", path);
  if (size > limits.ratioFreeBytes && size / limits.ratioMax > compressedSize) {
    throw new ArchiveRefused("bomb", path, `${inMiB(size)} out of ${compressedSize} bytes`);
  }
}
