import { ArchiveRefused } from "./refused.ts";
import { readExactly, type TailedSource } from "./source.ts";

/** The place of the directory and its number of entries, from the end record. */
export interface EndRecord {
  directoryOffset: number;
  directoryBytes: number;
  entries: number;
  /** Old writers and macOS count modulo 65,536 where zip64 would be needed. */
  countsModulo: boolean;
}

const endBytes = 22;
const locatorSignature = 0x07064b50;
const locatorBytes = 20;
const wideSignature = 0x06064b50;
const wideBytes = 56;
const fileSignature = 0x04034b50;
const in16 = 0xffff;
const in32 = 0xffffffff;

/** Finds the one end record of an archive; it ends where the file ends. Positions are those in the tail. */
async function locateEnd(source: TailedSource): Promise<number> {
  const { tail, tailOffset } = source;
  const last = tail.length - endBytes;
  const candidates: number[] = [];
  for (let at = last; at >= 0; at -= 1) {
    at = tail.lastIndexOf("PK\x05\x06", at, "latin1");
    if (at < 0 || at < last - in16) break;
    candidates.push(at);
  }
  const commentEnd = (at: number) => at + endBytes + tail.readUInt16LE(at + 20);
  const fitting = candidates.filter((at) => commentEnd(at) === tail.length);
  const found = fitting.find((at) => isUsable(tail, at, tailOffset));
  if (found === undefined) {
    if (fitting.length > 0) throw new ArchiveRefused("bad_directory");
    if (candidates.some((at) => commentEnd(at) < tail.length)) throw new ArchiveRefused("trailing_data");
    throw new ArchiveRefused(candidates.length > 0 || (await beginsLikeZip(source)) ? "truncated" : "not_a_zip");
  }
  // Some readers use the first end record, others the last or the longest, so there must be only one possible end record.
  const rivals = candidates.filter((at) => at > found || (at < found && commentEnd(at) === tail.length));
  if (rivals.some((at) => isUsable(tail, at, tailOffset))) throw new ArchiveRefused("ambiguous_end");
  return found;
}

async function beginsLikeZip(source: TailedSource): Promise<boolean> {
  return source.size >= 4 && (await readExactly(source, 0, 4)).readUInt32LE(0) === fileSignature;
}

/** Whether a reader could use these bytes as an end record: the directory that they name fits before them. */
function isUsable(tail: Buffer, at: number, tailOffset: number): boolean {
  const bytes = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  return bytes === in32 || offset === in32 || offset + bytes <= tailOffset + at;
}

/** The end record, with the values of zip64's if there is one; values that are in both must be equal. */
export async function readEndRecord(source: TailedSource): Promise<EndRecord> {
  const { tail, tailOffset } = source;
  const at = await locateEnd(source);
  const disk = tail.readUInt16LE(at + 4);
  const directoryDisk = tail.readUInt16LE(at + 6);
  const here = tail.readUInt16LE(at + 8);
  const entries = tail.readUInt16LE(at + 10);
  const directoryBytes = tail.readUInt32LE(at + 12);
  const directoryOffset = tail.readUInt32LE(at + 16);
  const wide = readWide(tail, at - locatorBytes, tailOffset);
  const agrees = (narrow: number, value: number, unknown: number) =>
    narrow === value || (narrow === unknown && wide !== null);
  if (!agrees(disk, 0, in16) || !agrees(directoryDisk, 0, in16)) throw new ArchiveRefused("multi_disk");
  if (here !== entries) throw new ArchiveRefused("bad_directory");
  if (wide === null) {
    checkPlace(directoryOffset, directoryBytes, tailOffset + at);
    return { directoryOffset, directoryBytes, entries, countsModulo: true };
  }
  const same =
    agrees(entries, wide.entries, in16) &&
    agrees(directoryBytes, wide.directoryBytes, in32) &&
    agrees(directoryOffset, wide.directoryOffset, in32);
  if (!same) throw new ArchiveRefused("ambiguous_end");
  checkPlace(wide.directoryOffset, wide.directoryBytes, tailOffset + at - locatorBytes - wideBytes);
  return wide;
}

/** The directory must end exactly where the next record starts. */
function checkPlace(offset: number, bytes: number, end: number): void {
  if (offset + bytes < end) throw new ArchiveRefused("gap", undefined, "around its list of contents");
  if (offset + bytes > end) throw new ArchiveRefused("bad_directory");
}

/** The zip64 end record that a locator at this position points to; it must lie directly before the locator. */
function readWide(tail: Buffer, locator: number, tailOffset: number): EndRecord | null {
  if (locator < 0 || tail.readUInt32LE(locator) !== locatorSignature) return null;
  if (tail.readUInt32LE(locator + 4) !== 0 || tail.readUInt32LE(locator + 16) > 1) {
    throw new ArchiveRefused("multi_disk");
  }
  const at = locator - wideBytes;
  const place = Number(tail.readBigUInt64LE(locator + 8));
  if (place !== tailOffset + at || tail.readUInt32LE(at) !== wideSignature) {
    throw new ArchiveRefused("bad_directory");
  }
  // A longer record has room for a second directory that only some readers would see.
  if (Number(tail.readBigUInt64LE(at + 4)) !== wideBytes - 12) throw new ArchiveRefused("bad_directory");
  const entries = Number(tail.readBigUInt64LE(at + 32));
  if (tail.readUInt32LE(at + 16) !== 0 || tail.readUInt32LE(at + 20) !== 0) throw new ArchiveRefused("multi_disk");
  if (Number(tail.readBigUInt64LE(at + 24)) !== entries) throw new ArchiveRefused("bad_directory");
  return {
    directoryBytes: Number(tail.readBigUInt64LE(at + 40)),
    directoryOffset: Number(tail.readBigUInt64LE(at + 48)),
    entries,
    countsModulo: false,
  };
}
