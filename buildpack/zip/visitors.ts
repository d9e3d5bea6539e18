import type { ArchiveEntry, StoredEntry } from "./entry.ts";
import type { PieceSink } from "./inflate.ts";
import { readTarget } from "./links.ts";
import { atOnceBytesMax, checkRecord, type EntryVisitor } from "./sequential-read.ts";

/** Larger files are checked and never given as a whole, in bytes. */
export const contentBytesMax = 32 * 1024 * 1024;

/**
 * Takes the checked contents of one file; `bytes` may be kept. `pack` keeps them as small as they were in the archive and returns
 * a function that unpacks them again. The check waits for a promise.
 */
export type OnFile = (entry: ArchiveEntry, bytes: Uint8Array, pack: () => () => Uint8Array) => void | Promise<void>;

export interface VerifyOptions {
  /** Which files go to `onFile`; all when not given. Files over 32 MiB are checked but never given as a whole. */
  wants?: (entry: ArchiveEntry) => boolean;
  /**
   * Asked for each file over 2 MiB: where it wants the contents, `write` gets them piece by piece (each valid during the call
   * only, and checked when `close` is called), and `onFile` does not.
   */
  streams?: (entry: ArchiveEntry) => { write: PieceSink; close: () => void } | null;
}

/** How many bytes `pack` keeps of a file: contents that are unpacked piece by piece are kept unpacked. */
export const packedBytes = ({ size, compressedSize }: ArchiveEntry): number =>
  Math.max(size, compressedSize) > atOnceBytesMax ? size : compressedSize;

/** Collects the targets of links, and streams large files to those who ask for them. */
export function linkVisitor(links: Map<string, string>, { streams }: VerifyOptions): EntryVisitor {
  let stream: { write: PieceSink; close: () => void } | null = null;
  return {
    small(entry, bytes) {
      if (entry.kind === "symlink") links.set(entry.path, readTarget(bytes, entry.path));
    },
    large(entry) {
      stream = entry.kind === "file" ? (streams?.(entry) ?? null) : null;
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
        // Not from the shared pool, most of which would stay in memory with it.
        const packed = Buffer.allocUnsafeSlow(record.length);
        record.copy(packed);
        return () => checkRecord(packed, entry, directory);
      };
      // Stored contents are a view into a read window, which would stay in memory with them.
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
