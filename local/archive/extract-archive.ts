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
import { isLeftover } from "../../buildpack/zip/leftover.ts";
import { checkLinks } from "../../buildpack/zip/links.ts";

const entriesPerTurn = 512;

export interface ExtractOptions {
  /** A folder of the archive, such as "app": only the files below it are written, and their paths start after it. */
  root?: string;
}

/**
 * Checks the whole archive and writes it below `targetDir` in the same pass, without junk files. `targetDir` must be
 * empty or not exist, so that no existing link is followed. It is empty again after an error (ArchiveRefused, or an
 * error of the file system). Writing is synchronous, and yields to the event loop every few MiB.
 */
export async function extractArchive(archive: Archive, targetDir: string, options: ExtractOptions = {}): Promise<void> {
  const prefix = options.root ? `${options.root}/` : "";
  const tree = new WrittenTree(targetDir);
  const placed = (entry: ArchiveEntry) =>
    entry.path.startsWith(prefix) && !isLeftover(entry.path) ? entry.path.slice(prefix.length) : null;
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
  // The archive's own check allows links that point outside the extracted folder, so they are checked again.
  if (prefix !== "") checkLinks(links, prefix);
  let made = 0;
  for (const [path, target] of links) {
    tree.link(path, target);
    made += 1;
    if (made % entriesPerTurn === 0) await nextTurn();
  }
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A folder whose whole content was written by this class, so that no existing link can lead out of it. */
class WrittenTree {
  readonly #top: string;
  readonly #folders = new Set<string>(["", "."]);
  #openFile: number | null = null;

  constructor(top: string) {
    mkdirSync(top, { recursive: true });
    if (lstatSync(top).isSymbolicLink() || readdirSync(top).length > 0) {
      throw new Error("The target folder must be empty and must not be a symbolic link");
    }
    this.#top = top;
  }

  folder(path: string): void {
    if (this.#folders.has(path)) return;
    // On a case-insensitive file system, the folder may already exist with another spelling.
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
    // The process's umask could otherwise remove the permission to read.
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

  /** Removes everything that was written. */
  remove(): void {
    if (this.#openFile !== null) closeSync(this.#openFile);
    for (const name of readdirSync(this.#top)) rmSync(join(this.#top, name), { recursive: true, force: true });
  }

  #parentOf(path: string): void {
    const end = path.lastIndexOf("/");
    if (end > 0) this.folder(path.slice(0, end));
  }
}
