import { tooManyEntries } from "./directory.ts";
import type { StoredEntry } from "./entry.ts";
import type { ArchiveLimits } from "./limits.ts";
import { ArchiveRefused } from "./refused.ts";

const plain = /^\p{ASCII}*$/u;

/** A path as a file system that ignores case and the composition of accents compares it. */
export function foldPath(path: string): string {
  if (plain.test(path)) return path.toLowerCase();
  // Upper case first: it joins what lower case alone would keep apart (ß and ss, ſ and s).
  return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

interface Placed {
  key: string;
  entry: StoredEntry;
}

/**
 * No two entries with one name, and nothing below a file or a link. Sorted with the separator first, the ancestors of an entry
 * stand directly before it, so that one pass with a stack is enough whatever the depth of the names.
 */
export function checkTree(entries: readonly StoredEntry[], limits: ArchiveLimits): void {
  const placed = entries.map((entry): Placed => ({ key: foldPath(entry.path).replaceAll("/", "\0"), entry }));
  placed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const ancestors: Placed[] = [];
  let previous: Placed | undefined;
  let folders = 0;
  for (const current of placed) {
    if (previous?.key === current.key) throw sameName(previous.entry, current.entry);
    folders += newFolders(previous?.key ?? "", current.key);
    if (folders > limits.entriesMax) throw tooManyEntries(limits);
    while (ancestors.length > 0 && !isBelow(current.key, ancestors.at(-1)?.key ?? "")) ancestors.pop();
    const parent = ancestors.at(-1)?.entry;
    if (parent?.kind === "file") throw new ArchiveRefused("file_as_folder", parent.path);
    if (parent?.kind === "symlink") throw new ArchiveRefused("link_as_folder", current.entry.path);
    ancestors.push(current);
    previous = current;
  }
}

function isBelow(key: string, ancestor: string): boolean {
  return key.length > ancestor.length && key[ancestor.length] === "\0" && key.startsWith(ancestor);
}

function sameName(first: StoredEntry, second: StoredEntry): ArchiveRefused {
  const oneIsFolder = (first.kind === "directory") !== (second.kind === "directory");
  return new ArchiveRefused(oneIsFolder ? "file_as_folder" : "duplicate_name", second.path);
}

/** How many folders a key names that the one before it (in order) does not. */
function newFolders(previous: string, key: string): number {
  let at = 0;
  while (at < previous.length && at < key.length && previous[at] === key[at]) at += 1;
  let count = 0;
  for (let next = key.indexOf("\0", at); next >= 0; next = key.indexOf("\0", next + 1)) count += 1;
  return count;
}
