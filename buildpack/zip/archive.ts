import { inMiB, readDirectory } from "./directory.ts";
import { readEndRecord } from "./end-record.ts";
import type { ArchiveEntry, StoredEntry } from "./entry.ts";
import { layOut } from "./layout.ts";
import { type ArchiveLimits, archiveLimits } from "./limits.ts";
import { checkLinks } from "./links.ts";
import { ArchiveRefused } from "./refused.ts";
import { readSelected } from "./selective-read.ts";
import { type ArchiveLayout, checkRecord, readSequentially } from "./sequential-read.ts";
import { type ByteSource, readExactly, readTail } from "./source.ts";
import { checkTree } from "./tree.ts";
import { contentBytesMax, fileVisitor, linkVisitor, type OnFile, type VerifyOptions } from "./visitors.ts";

/** An archive whose directory follows all rules; `verify` also checks the contents. */
export class Archive {
  readonly #layout: ArchiveLayout;
  #byPath: Map<string, StoredEntry> | null = null;
  readonly #stored: readonly StoredEntry[];
  /** In the order of the directory; every path occurs once. */
  readonly entries: readonly ArchiveEntry[];

  constructor(layout: ArchiveLayout, entries: readonly StoredEntry[]) {
    this.#layout = layout;
    this.entries = entries;
    this.#stored = entries;
  }

  /** The entry with exactly this path. */
  find(path: string): ArchiveEntry | undefined {
    return this.#storedAt(path);
  }

  #storedAt(path: string): StoredEntry | undefined {
    this.#byPath ??= new Map(this.#stored.map((entry) => [entry.path, entry]));
    return this.#byPath.get(path);
  }

  /** Reads and checks one file, or the target of a link; refuses it if it has more than `bytesMax`, packed or unpacked. */
  async read(entry: ArchiveEntry, bytesMax = contentBytesMax): Promise<Uint8Array> {
    const stored = this.#storedAt(entry.path);
    if (stored === undefined) throw new RangeError("the entry is of another archive");
    if (Math.max(stored.size, stored.compressedSize) > bytesMax) throw new ArchiveRefused("file_too_large", entry.path);
    const { source, directory } = this.#layout;
    const record = await readExactly(source, stored.offset, stored.end - stored.offset);
    const bytes = checkRecord(record, stored, directory);
    return stored.deflated ? bytes : Buffer.from(bytes);
  }

  /**
   * Checks everything (docs/api.md, Archives) in one pass in file order, and passes the wanted files to `onFile` meanwhile. Discard these
   * contents if it throws ArchiveRefused. Errors of the source are thrown unchanged.
   */
  async verify(onFile?: OnFile, options: VerifyOptions = {}): Promise<void> {
    const links = new Map<string, string>();
    const { directory } = this.#layout;
    const visitor = onFile === undefined ? linkVisitor(links, options) : fileVisitor(links, onFile, options, directory);
    await readSequentially(this.#layout, visitor);
    this.#resolveLinks(links);
  }

  /**
   * `verify` for an archive that is too large to be read completely: reads and checks the links and the wanted files of up to
   * 32 MiB, and neighboring ones in one read. For all other entries, only the directory is checked.
   */
  async verifySelected(wants: (entry: ArchiveEntry) => boolean, onFile: OnFile): Promise<void> {
    const links = new Map<string, string>();
    const picked = this.#layout.ordered.filter(
      (entry) =>
        entry.kind === "symlink" ||
        (entry.kind === "file" && Math.max(entry.size, entry.compressedSize) <= contentBytesMax && wants(entry)),
    );
    await readSelected(this.#layout, picked, fileVisitor(links, onFile, {}, this.#layout.directory));
    this.#resolveLinks(links);
  }

  #resolveLinks(links: ReadonlyMap<string, string>): void {
    checkLinks(links);
    for (const [path, target] of links) {
      const entry = this.#storedAt(path);
      if (entry !== undefined) entry.linkTarget = target;
    }
  }
}

/** Opens an archive: reads and checks its end record and its directory. */
export async function openArchive(source: ByteSource, limits: ArchiveLimits = archiveLimits): Promise<Archive> {
  if (source.size > limits.zippedBytesMax) {
    throw new ArchiveRefused("too_large", undefined, `at most ${inMiB(limits.zippedBytesMax)} are allowed`);
  }
  const tailed = await readTail(source);
  const end = await readEndRecord(tailed);
  if (end.directoryBytes > limits.directoryBytesMax) {
    throw new ArchiveRefused(
      "too_many_entries",
      undefined,
      `the list of them is larger than ${inMiB(limits.directoryBytesMax)}`,
    );
  }
  const directory = await readExactly(tailed, end.directoryOffset, end.directoryBytes);
  const entries = readDirectory(directory, end, limits);
  checkTree(entries, limits);
  const ordered = layOut(entries, end.directoryOffset);
  return new Archive({ source: tailed, directory, directoryOffset: end.directoryOffset, ordered }, entries);
}
