import { inMiB, readDirectory } from "./directory.ts";
import { readEndRecord } from "./end-record.ts";
import type { ArchiveEntry, StoredEntry } from "./entry.ts";
import type { PieceSink } from "./inflate.ts";
import { layOut } from "./layout.ts";
import { type ArchiveLimits, archiveLimits } from "./limits.ts";
import { checkLinks, readTarget } from "./links.ts";
import { pick } from "./pick.ts";
import { ArchiveRefused } from "./refused.ts";
import { type ByteSource, readExactly, readTail } from "./source.ts";
import { atOnceBytesMax, checkRecord, type SweepVisitor, type SweptArchive, sweep } from "./sweep.ts";
import { checkTree } from "./tree.ts";

const contentBytesMax = 32 * 1024 * 1024;

/**
 * Takes the proved contents of one file; `bytes` may be kept. `pack` keeps them as small as they were in the archive and gives
 * a function that unpacks them again. A promise holds the check up until it is settled.
 */
export type OnFile = (entry: ArchiveEntry, bytes: Uint8Array, pack: () => () => Uint8Array) => void | Promise<void>;

export interface VerifyOptions {
  /** Which files go to `onFile`; all when not given. Files over 32 MiB are checked but never given as a whole. */
  wants?: (entry: ArchiveEntry) => boolean;
  /**
   * Asked for each file over 2 MiB: where it wants the contents, `write` gets them piece by piece (each valid during the call
   * only, and proved when `close` is called), and `onFile` does not.
   */
  streams?: (entry: ArchiveEntry) => { write: PieceSink; close: () => void } | null;
}

/** How many bytes `pack` keeps of a file: what is unpacked piece by piece is not packed again. */
export const packedBytes = ({ size, compressedSize }: ArchiveEntry): number =>
  Math.max(size, compressedSize) > atOnceBytesMax ? size : compressedSize;

/** An archive whose directory keeps all rules; whether its contents do, `verify` tells. */
export class Archive {
  readonly #swept: SweptArchive;
  #byPath: Map<string, StoredEntry> | null = null;
  readonly #stored: readonly StoredEntry[];
  /** In the order of the directory; no two with one path. */
  readonly entries: readonly ArchiveEntry[];

  constructor(swept: SweptArchive, entries: readonly StoredEntry[]) {
    this.#swept = swept;
    this.entries = entries;
    this.#stored = entries;
  }

  /** The entry of exactly this path. */
  find(path: string): ArchiveEntry | undefined {
    return this.#storedAt(path);
  }

  #storedAt(path: string): StoredEntry | undefined {
    this.#byPath ??= new Map(this.#stored.map((entry) => [entry.path, entry]));
    return this.#byPath.get(path);
  }

  /** Reads and checks one file (or the target of a link) without the others; refuses one over `bytesMax`, packed or not. */
  async read(entry: ArchiveEntry, bytesMax = contentBytesMax): Promise<Uint8Array> {
    const stored = this.#storedAt(entry.path);
    if (stored === undefined) throw new RangeError("the entry is of another archive");
    if (Math.max(stored.size, stored.compressedSize) > bytesMax) throw new ArchiveRefused("file_too_large", entry.path);
    const { source, directory } = this.#swept;
    const record = await readExactly(source, stored.offset, stored.end - stored.offset);
    const bytes = checkRecord(record, stored, directory);
    return stored.deflated ? bytes : Buffer.from(bytes);
  }

  /**
   * Checks everything (docs/api.md, Archives) in one pass in file order and hands over the wanted files on the way. Contents that were handed
   * over prove nothing until the whole has been found good: drop them when this throws ArchiveRefused. Errors of the source pass.
   */
  async verify(onFile?: OnFile, options: VerifyOptions = {}): Promise<void> {
    const links = new Map<string, string>();
    const { directory } = this.#swept;
    const visitor = onFile === undefined ? checkOnly(links, options) : handOver(links, onFile, options, directory);
    await sweep(this.#swept, visitor);
    this.#settle(links);
  }

  /**
   * `verify` for an archive that is too large to be read as a whole: reads and checks the links and the files that are wanted,
   * those over 32 MiB excepted, and neighbours in one read. Of all others only what the directory says has been checked.
   */
  async pick(wants: (entry: ArchiveEntry) => boolean, onFile: OnFile): Promise<void> {
    const links = new Map<string, string>();
    const picked = this.#swept.ordered.filter(
      (entry) =>
        entry.kind === "symlink" ||
        (entry.kind === "file" && Math.max(entry.size, entry.compressedSize) <= contentBytesMax && wants(entry)),
    );
    await pick(this.#swept, picked, handOver(links, onFile, {}, this.#swept.directory));
    this.#settle(links);
  }

  #settle(links: ReadonlyMap<string, string>): void {
    checkLinks(links);
    for (const [path, target] of links) {
      const entry = this.#storedAt(path);
      if (entry !== undefined) entry.linkTarget = target;
    }
  }
}

function checkOnly(links: Map<string, string>, { streams }: VerifyOptions): SweepVisitor {
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

function handOver(links: Map<string, string>, onFile: OnFile, options: VerifyOptions, directory: Buffer): SweepVisitor {
  const base = checkOnly(links, options);
  const wanted = (entry: StoredEntry) => entry.kind === "file" && (options.wants?.(entry) ?? true);
  let gathered: Buffer[] | null = null;
  return {
    small(entry, bytes, record) {
      base.small(entry, bytes, record);
      if (!wanted(entry)) return;
      const pack = () => {
        // Not of the shared pool, most of which would be kept with it.
        const packed = Buffer.allocUnsafeSlow(record.length);
        record.copy(packed);
        return () => checkRecord(packed, entry, directory);
      };
      // What is stored is a view into a window, which whoever keeps it would keep with it.
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

/** Opens an archive: reads its end and its directory, and refuses what breaks a rule there. */
export async function openArchive(source: ByteSource, limits: ArchiveLimits = archiveLimits): Promise<Archive> {
  if (source.size > limits.zippedBytesMax) {
    throw new ArchiveRefused("too_large", undefined, `at most ${inMiB(limits.zippedBytesMax)} are allowed`);
  }
  const tailed = await readTail(source);
  const end = await readEndRecord(tailed);
  if (end.directoryBytes > limits.directoryBytesMax) {
    throw new ArchiveRefused("too_many_entries", undefined, `their list is over ${inMiB(limits.directoryBytesMax)}`);
  }
  const directory = await readExactly(tailed, end.directoryOffset, end.directoryBytes);
  const entries = readDirectory(directory, end, limits);
  checkTree(entries, limits);
  const ordered = layOut(entries, end.directoryOffset);
  return new Archive({ source: tailed, directory, directoryOffset: end.directoryOffset, ordered }, entries);
}
