import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoredEntry } from "./entry.ts";
import { type PieceSink, unpack, unpackLarge } from "./inflate.ts";
import { checkDescriptor, checkLocalHeader, localHeaderBytes, localHeaderLength } from "./local-header.ts";
import { ArchiveRefused } from "./refused.ts";
import type { ByteSource } from "./source.ts";
import { WindowReader } from "./window-reader.ts";

/** Contents up to this size, in bytes, are unpacked in one go. */
export const atOnceBytesMax = 2 * 1024 * 1024;
const headerRoom = 70_000;
const pieceBytes = 1024 * 1024;
/** The bytes that are unpacked before other work can run; each entry counts as some bytes in addition. */
const turnBytes = 8 * 1024 * 1024;
const entryCost = 16 * 1024;

/** The places of an archive's entries in its file, from a checked directory. */
export interface ArchiveLayout {
  source: ByteSource;
  directory: Buffer;
  directoryOffset: number;
  /** In file order. */
  ordered: readonly StoredEntry[];
}

/** Receives contents after their size and checksum were checked; `bytes` and `record` of small ones are valid only during the call. */
export interface EntryVisitor {
  small(entry: StoredEntry, bytes: Buffer, record: Buffer): void | Promise<void>;
  /** Called before contents over 2 MiB are unpacked; null if they are only checked. */
  large(entry: StoredEntry): PieceSink | null;
  largeDone(entry: StoredEntry): void | Promise<void>;
}

/** Whether the contents are unpacked in one go. */
function fitsAtOnce(entry: StoredEntry): boolean {
  return entry.size <= atOnceBytesMax && entry.end - entry.offset <= atOnceBytesMax + headerRoom;
}

/** Reads the whole file once, in its order, and checks that each byte belongs to an entry. */
export async function readSequentially(archive: ArchiveLayout, visitor: EntryVisitor): Promise<void> {
  const reader = new WindowReader(archive.source, archive.directoryOffset);
  let sinceTurn = 0;
  try {
    for (const entry of archive.ordered) {
      if (fitsAtOnce(entry)) {
        const length = entry.end - entry.offset;
        const record = reader.view(length) ?? (await reader.take(length));
        const answer = visitor.small(entry, checkRecord(record, entry, archive.directory), record);
        if (answer !== undefined) await answer;
        sinceTurn += entry.size + entryCost;
      } else {
        await checkLarge(reader, entry, archive.directory, visitor);
      }
      if (sinceTurn > turnBytes) {
        sinceTurn = 0;
        await nextTurn();
      }
    }
  } finally {
    await reader.close();
  }
}

/** Checks one entry, given from its local header to the next entry, and returns its contents. */
export function checkRecord(record: Buffer, entry: StoredEntry, directory: Buffer): Buffer {
  const start = localHeaderLength(record, entry);
  const end = start + entry.compressedSize;
  if (end > record.length) throw new ArchiveRefused("overlap", entry.path);
  const descriptor = checkLocalHeader(record.subarray(0, start), entry, directory);
  checkDescriptor(record.subarray(end), entry, descriptor);
  return unpack(record.subarray(start, end), entry);
}

async function checkLarge(
  reader: WindowReader,
  entry: StoredEntry,
  directory: Buffer,
  visitor: EntryVisitor,
): Promise<void> {
  const fixed = await reader.take(localHeaderBytes);
  const headerLength = localHeaderLength(fixed, entry);
  const rest = entry.end - entry.offset - headerLength - entry.compressedSize;
  if (rest < 0) throw new ArchiveRefused("overlap", entry.path);
  const header = Buffer.concat([fixed, await reader.take(headerLength - localHeaderBytes)]);
  const descriptor = checkLocalHeader(header, entry, directory);
  await unpackLarge(pieces(reader, entry.compressedSize), entry, visitor.large(entry));
  checkDescriptor(await reader.take(rest), entry, descriptor);
  await visitor.largeDone(entry);
}

async function* pieces(reader: WindowReader, length: number): AsyncGenerator<Buffer> {
  for (let left = length; left > 0; ) {
    const piece = await reader.piece(Math.min(left, pieceBytes));
    left -= piece.length;
    yield piece;
  }
}
