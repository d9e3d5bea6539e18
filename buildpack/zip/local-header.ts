import { type StoredEntry, usesDescriptor } from "./entry.ts";
import { readExtraFields, widen } from "./extra-fields.ts";
import { archiveLimits } from "./limits.ts";
import { decodeName, entryPath, unicodeName } from "./name.ts";
import { ArchiveRefused } from "./refused.ts";

const signature = 0x04034b50;
const descriptorSignature = 0x08074b50;
const deflateLevel = 0x0006;
const deflate = 8;

/** The size of a local header before its name, in bytes. */
export const localHeaderBytes = 30;

/** The length of the local header with its name and extra fields; `fixed` is its beginning. */
export function localHeaderLength(fixed: Buffer, entry: StoredEntry): number {
  if (fixed.readUInt32LE(0) !== signature) throw new ArchiveRefused("header_mismatch", entry.path);
  return localHeaderBytes + fixed.readUInt16LE(26) + fixed.readUInt16LE(28);
}

/**
 * Checks that the local header agrees with the directory, because some readers use one and some the other. The result says
 * which of the two announces a data descriptor.
 */
export function checkLocalHeader(header: Buffer, entry: StoredEntry, directory: Buffer): DescriptorFlag {
  const nameEnd = localHeaderBytes + header.readUInt16LE(26);
  const { nameStart, nameLength, path } = entry;
  const sameName = directory.compare(header, localHeaderBytes, nameEnd, nameStart, nameStart + nameLength) === 0;
  // Some writers state the compression level, which no reader needs, in only one of the two places.
  const flags = header.readUInt16LE(6);
  const descriptor = descriptorFlag(flags, entry);
  const unimportant = deflateLevel | (descriptor === "local" ? usesDescriptor : 0);
  const sameFlags = ((flags ^ entry.flags) & ~unimportant) === 0;
  const sameMethod = header.readUInt16LE(8) === (entry.deflated ? deflate : 0);
  if (!sameName || !sameFlags || !sameMethod) throw new ArchiveRefused("header_mismatch", path);
  const extra = readExtraFields(header, nameEnd, header.length, path);
  if (extra.unicodePath !== null) {
    const first = decodeName(header, localHeaderBytes, nameEnd, false);
    const second = unicodeName(extra.unicodePath, header.subarray(localHeaderBytes, nameEnd), first);
    if (entryPath(second, archiveLimits).path !== path) throw new ArchiveRefused("header_mismatch", path);
  }
  const stated = { compressedSize: header.readUInt32LE(18), size: header.readUInt32LE(22), offset: 0, disk: 0 };
  const { size, compressedSize } = widen(stated, extra.zip64, path);
  // A streaming writer does not know these values yet and writes zeros.
  const agrees = (local: number, listed: number) => local === listed || (descriptor !== "none" && local === 0);
  const same =
    agrees(header.readUInt32LE(14), entry.crc32) &&
    agrees(size, entry.size) &&
    agrees(compressedSize, entry.compressedSize);
  if (!same) throw new ArchiveRefused("header_mismatch", path);
  return descriptor;
}

/** Where a data descriptor after the contents is announced. Some streaming writers set the flag only in the local header. */
type DescriptorFlag = "none" | "both" | "local";

function descriptorFlag(localFlags: number, entry: StoredEntry): DescriptorFlag {
  if ((entry.flags & usesDescriptor) !== 0) return "both";
  return (localFlags & usesDescriptor) === 0 ? "none" : "local";
}

/** Checks the bytes after the contents: none, or a data descriptor in one of its four forms, which differ in length. */
export function checkDescriptor(bytes: Buffer, entry: StoredEntry, descriptor: DescriptorFlag): void {
  if (descriptor === "none") {
    if (bytes.length > 0) throw new ArchiveRefused("gap", entry.path);
    return;
  }
  if (descriptor === "local" && bytes.length === 0) throw new ArchiveRefused("header_mismatch", entry.path);
  const start = bytes.length === 16 || bytes.length === 24 ? 4 : 0;
  const wide = bytes.length >= 20;
  if (![12, 16, 20, 24].includes(bytes.length)) throw new ArchiveRefused("bad_descriptor", entry.path);
  const sizes = wide
    ? [Number(bytes.readBigUInt64LE(start + 4)), Number(bytes.readBigUInt64LE(start + 12))]
    : [bytes.readUInt32LE(start + 4), bytes.readUInt32LE(start + 8)];
  const agrees =
    (start === 0 || bytes.readUInt32LE(0) === descriptorSignature) &&
    bytes.readUInt32LE(start) === entry.crc32 &&
    sizes[0] === entry.compressedSize &&
    sizes[1] === entry.size;
  if (!agrees) throw new ArchiveRefused("bad_descriptor", entry.path);
}
