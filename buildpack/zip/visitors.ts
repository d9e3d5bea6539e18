import type { ArchiveEntry, StoredEntry } from "./entry.ts";
import type { PieceSink } from "./inflate.ts";
import { readTarget } from "./links.ts";
import { atOnceBytesMax, checkRecord, type EntryVisitor } from "./sequential-read.ts";

/** Files with more bytes than this are checked, but never passed on in one piece. */
export const contentBytesMax = 32 * 1024 * 1024;

/**
 * Receives the checked contents of one file; `bytes` may be kept. `pack` keeps them compressed and returns a function that
 * unpacks them again. A returned promise is awaited.
 */
export type OnFile = (entry: ArchiveEntry, bytes: Uint8Array, pack: () => () => Uint8Array) => void | Promise<void>;

export interface VerifyOptions {
  /** Chooses the files for `onFile`; default: all. Files over 32 MiB are only checked. */
  wants?: (entry: ArchiveEntry) => boolean;
  /**
   * Called for each file over 2 MiB. If it returns a stream, `write` gets the contents in pieces, each valid only during the
   * call, and `onFile` is not called. The contents have been checked when `close` is called.
   */
  streams?: (entry: ArchiveEntry) => { write: PieceSink; close: () => void } | null;
}

/** The number of bytes that `pack` keeps of a file; contents that are unpacked in pieces are kept unpacked. */
export const packedBytes = ({ size, compressedSize }: ArchiveEntry): number =>
  Math.max(size, compressedSize) > atOnceBytesMax ? size : compressedSize;

/** Collects the targets of links, and streams large files if `streams` is given. Links and folders are never large. */
export function linkVisitor(links: Map<string, string>, { streams }: VerifyOptions): EntryVisitor {
  let stream: { write: PieceSink; close: () => void } | null = null;
  return {
    small(entry, bytes) {
      if (entry.kind === "symlink") links.set(entry.path, readTarget(bytes, entry.path));
    },
    large(entry) {
      stream = streams?.(entry) ?? null;
      return stream?.write ?? null;
    },
    largeDone() {
      stream?.close();
      stream = null;
    },
  };
}

/** `linkVisitor` that also gives the wanted files to `onFile`. */
export function fileVisitor(
  links: Map<string, string>,
  onFile: OnFile,
  options: VerifyOptions,
  directory: Buffer,
): EntryVisitor {
  const base = linkVisitor(links, options);
  const wanted = (entry: StoredEntry) => entry.kind === "file" && (options.wants?.(entry) ?? true);
  let gathered: Buffer[] | null = null;
  return {
    small(entry, bytes, record) {
      base.small(entry, bytes, record);
      if (!wanted(entry)) return;
      const pack = () => {
        // Not from the shared pool, because a slice would keep the whole pool in memory.
        const packed = Buffer.allocUnsafeSlow(record.length);
        record.copy(packed);
        return () => checkRecord(packed, entry, directory);
      };
      // Stored contents are a view of a read window, so keeping them would keep the window in memory.
      return onFile(entry, entry.deflated ? bytes : Buffer.from(bytes), pack);
    },
    large(entry) {
      const sink = base.large(entry);
      if (sink !== null || entry.size > contentBytesMax || !wanted(entry)) return sink;
      const parts: Buffer[] = [];
      gathered = parts;
      return (piece) => void parts.push(Buffer.from(piece));
    },
    async largeDone(entry) {
      await base.largeDone(entry);
      const parts = gathered;
      gathered = null;
      if (parts === null) return;
      const bytes = Buffer.concat(parts);
      await onFile(entry, bytes, () => () => bytes);
    },
  };
}
