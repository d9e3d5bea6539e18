import type { StoredEntry } from "./entry.ts";
import { ArchiveRefused } from "./refused.ts";

const headerBytes = 30;
const extraBytesMax = 0xffff;
const descriptorBytesMax = 24;

/**
 * The entries in file order, each with the end of its bytes. Overlapping entries, as in a bomb that uses the same bytes many
 * times, are refused here, before anything is unpacked; `verify` then checks that every byte belongs to an entry.
 */
export function layOut(entries: readonly StoredEntry[], directoryOffset: number): StoredEntry[] {
  const ordered = entries.toSorted((a, b) => a.offset - b.offset);
  const start = ordered[0]?.offset ?? directoryOffset;
  if (start !== 0) throw new ArchiveRefused("gap", undefined, "before its first file");
  for (const [index, entry] of ordered.entries()) {
    const next = ordered[index + 1];
    entry.end = next?.offset ?? directoryOffset;
    const least = entry.offset + headerBytes + entry.nameLength + entry.compressedSize;
    if (least > entry.end) throw new ArchiveRefused("overlap", (next ?? entry).path);
    if (least + extraBytesMax + descriptorBytesMax < entry.end) throw new ArchiveRefused("gap", entry.path);
  }
  return ordered;
}
