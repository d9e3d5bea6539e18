export type EntryKind = "file" | "directory" | "symlink";

/** An entry of an archive as the directory describes it; `verify` checks that this is true. */
export interface ArchiveEntry {
  /** Relative, "/" between the parts, no "." or "..", no "/" at the end; "." for the top folder itself. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly compressedSize: number;
  /** Unix permission bits (0 to 0o777); 0 if the archive has none. */
  readonly mode: number;
  readonly executable: boolean;
  /** The target of a link, after `verify` has checked that it is inside the archive; otherwise null. */
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
  /** The start of the next entry or of the directory; all bytes before it must belong to this entry. */
  end: number;
  /** Its name as stored, within the directory. */
  readonly nameStart: number;
  readonly nameLength: number;
}

export const usesDescriptor = 0x0008;
export const namedInUtf8 = 0x0800;
