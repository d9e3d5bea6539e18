import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Archive } from "../../buildpack/zip/archive.ts";
import type { ArchiveEntry } from "../../buildpack/zip/entry.ts";
import { isJunk } from "../../buildpack/zip/junk.ts";
import { checkLinks } from "../../buildpack/zip/links.ts";

const entriesPerTurn = 512;

export interface ExtractOptions {
  /** A folder of the archive, such as "app": only what is below it is written, without this part of its path. */
  root?: string;
}

/**
 * Checks the whole archive and writes it below `targetDir` in the same pass; junk is left out. The folder must not exist or be empty,
 * which is what keeps any link already there from being followed, and is empty again when this throws (ArchiveRefused, or an
 * error of the file system). Writing is synchronous, with a pause for others every few MiB.
 */
export async function extractArchive(archive: Archive, targetDir: string, options: ExtractOptions = {}): Promise<void> {
  const prefix = options.root ? `${options.root}/` : "";
  const tree = new WrittenTree(targetDir);
  const placed = (entry: ArchiveEntry) =>
    entry.path.startsWith(prefix) && !isJunk(entry.path) ? entry.path.slice(prefix.length) : null;
  try {
    for (const [index, entry] of archive.entries.entries()) {
      const path = entry.kind === "directory" ? placed(entry) : null;
      if (path !== null) tree.folder(path);
      if (index % entriesPerTurn === 0) await nextTurn();
    }
    await archive.verify((entry, bytes) => tree.file(placed(entry) ?? "", entry.executable, bytes), {
      wants: (entry) => placed(entry) !== null,
      streams: (entry) => {
        const path = placed(entry);
        return path === null ? null : tree.stream(path, entry.executable);
      },
    });
    await makeLinks(archive, prefix, placed, tree);
  } catch (error) {
    tree.remove();
    throw error;
  }
}

async function makeLinks(
  archive: Archive,
  prefix: string,
  placed: (entry: ArchiveEntry) => string | null,
  tree: WrittenTree,
): Promise<void> {
  const links = new Map<string, string>();
  for (const entry of archive.entries) {
    const path = entry.linkTarget === null ? null : placed(entry);
    if (path !== null && entry.linkTarget !== null) links.set(path, entry.linkTarget);
  }
  // A link may point inside the archive and still outside the folder that is extracted.
  if (prefix !== "") checkLinks(links, prefix);
  let made = 0;
  for (const [path, target] of links) {
    tree.link(path, target);
    made += 1;
    if (made % entriesPerTurn === 0) await nextTurn();
  }
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A folder in which everything was made by us, so that no path can lead elsewhere. */
class WrittenTree {
  readonly #top: string;
  readonly #folders = new Set<string>(["", "."]);
  #openFile: number | null = null;

  constructor(top: string) {
    mkdirSync(top, { recursive: true });
    if (lstatSync(top).isSymbolicLink() || readdirSync(top).length > 0) {
      throw new Error("The folder to unpack into must be a real and empty one");
    }
    this.#top = top;
  }

  folder(path: string): void {
    if (this.#folders.has(path)) return;
    // Where case does not count, a folder can be there already under another spelling; nothing else can.
    mkdirSync(join(this.#top, path), { recursive: true, mode: 0o755 });
    this.#folders.add(path);
  }

  file(path: string, executable: boolean, bytes: Uint8Array): void {
    const { write, close } = this.stream(path, executable);
    write(bytes);
    close();
  }

  stream(path: string, executable: boolean): { write: (piece: Uint8Array) => void; close: () => void } {
    this.#parentOf(path);
    const mode = executable ? 0o755 : 0o644;
    const file = openSync(join(this.#top, path), newFile, mode);
    this.#openFile = file;
    // The mask of the process must not decide whether the app may read its files.
    fchmodSync(file, mode);
    return {
      write: (piece) => {
        for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
      },
      close: () => {
        closeSync(file);
        this.#openFile = null;
      },
    };
  }

  link(path: string, target: string): void {
    this.#parentOf(path);
    symlinkSync(target, join(this.#top, path));
  }

  /** Takes back everything that was written. */
  remove(): void {
    if (this.#openFile !== null) closeSync(this.#openFile);
    for (const name of readdirSync(this.#top)) rmSync(join(this.#top, name), { recursive: true, force: true });
  }

  #parentOf(path: string): void {
    const end = path.lastIndexOf("/");
    if (end > 0) this.folder(path.slice(0, end));
  }
}
