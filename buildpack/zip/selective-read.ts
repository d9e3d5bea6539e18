import type { StoredEntry } from "./entry.ts";
import { type ArchiveLayout, checkRecord, type EntryVisitor } from "./sequential-read.ts";
import { readExactly } from "./source.ts";

const gapBytesMax = 128 * 1024;
const spanBytesMax = 2 * 1024 * 1024;
const readsAheadMax = 8;
const bytesAheadMax = 16 * 1024 * 1024;

/** Neighboring entries that are read at once, with the few bytes between them. */
interface Span {
  offset: number;
  end: number;
  entries: StoredEntry[];
}

/** Reads and checks some entries, given in file order, each small enough for memory; several reads run at the same time. */
export async function readSelected(
  archive: ArchiveLayout,
  entries: readonly StoredEntry[],
  visitor: Pick<EntryVisitor, "small">,
): Promise<void> {
  const spans = spansOf(entries);
  const ahead: Promise<Buffer>[] = [];
  let bytesAhead = 0;
  try {
    for (const [index, { offset, end, entries }] of spans.entries()) {
      for (const next of spans.slice(index + ahead.length)) {
        if (ahead.length === readsAheadMax || bytesAhead > bytesAheadMax) break;
        bytesAhead += next.end - next.offset;
        const read = readExactly(archive.source, next.offset, next.end - next.offset);
        // It is awaited later, or never if the archive is refused first; this prevents an unhandled rejection.
        read.catch(() => {});
        ahead.push(read);
      }
      const bytes = await ahead.shift();
      if (bytes === undefined) throw new RangeError("a part was not asked for");
      bytesAhead -= end - offset;
      for (const entry of entries) {
        const record = bytes.subarray(entry.offset - offset, entry.end - offset);
        await visitor.small(entry, checkRecord(record, entry, archive.directory), record);
      }
    }
  } finally {
    await Promise.allSettled(ahead);
  }
}

function spansOf(entries: readonly StoredEntry[]): Span[] {
  const spans: Span[] = [];
  for (const entry of entries) {
    const span = spans.at(-1);
    if (span && entry.offset - span.end <= gapBytesMax && entry.end - span.offset <= spanBytesMax) {
      span.entries.push(entry);
      span.end = entry.end;
    } else {
      spans.push({ offset: entry.offset, end: entry.end, entries: [entry] });
    }
  }
  return spans;
}
