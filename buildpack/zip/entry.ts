export type EntryKind = "file" | "directory" | "symlink";

/** One thing in an archive, as far as the directory tells; `verify` proves that it is so. */
export interface ArchiveEntry {
  /** Relative, "/" between the parts, no "." or "..", no "/" at the end; "." for the top folder itself. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly compressedSize: number;
  /** Unix permission bits (0 to 0o777), 0 when the writer gave none. */
  readonly mode: number;
  readonly executable: boolean;
  /** Where a link points, once `verify` has found that this is inside; null before and for everything else. */
  readonly linkTarget: string | null;
}

/** An entry with what is needed to find and check its bytes. */
export interface StoredEntry extends ArchiveEntry {
  linkTarget: string | null;
  readonly deflated: boolean;
  readonly flags: number;
  readonly crc32: number;
  /** Where its local header starts. */
  readonly offset: number;
  /** Where the next entry, or the directory, starts: everything up to there must belong to this entry. */
  end: number;
  /** Its name as stored, within the directory. */
  readonly nameStart: number;
  readonly nameLength: number;
}

export const usesDescriptor = 0x0008;
export const namedInUtf8 = 0x0800;
