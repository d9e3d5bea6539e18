import { tooManyEntries } from "./directory.ts";
import type { StoredEntry } from "./entry.ts";
import type { ArchiveLimits } from "./limits.ts";
import { ArchiveRefused } from "./refused.ts";

const plain = /^\p{ASCII}*$/u;

/** A path in the form in which file systems that ignore case and the composition of accents compare it. */
export function foldPath(path: string): string {
  if (plain.test(path)) return path.toLowerCase();
  // Converted to upper case first, because lower case alone would not make ß and ss, or ſ and s, equal.
  return path.toUpperCase().toLowerCase().normalize("NFC");
}

/** Refuses two entries with the same name, and entries below a file or a link. */
export function checkTree(entries: readonly StoredEntry[], limits: ArchiveLimits): void {
  const named = new Map<string, StoredEntry>();
  /** The folders that names imply, each with the first such entry. */
  const folders = new Map<string, StoredEntry>();
  for (const entry of entries) {
    const key = foldPath(entry.path);
    const twin = named.get(key);
    if (twin !== undefined) throw sameName(twin, entry);
    named.set(key, entry);
    for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
      const folder = key.slice(0, end);
      if (folders.has(folder)) break;
      folders.set(folder, entry);
      if (folders.size > limits.entriesMax) throw tooManyEntries(limits);
    }
  }
  for (const [key, entry] of named) {
    const below = entry.kind === "directory" ? undefined : folders.get(key);
    if (below === undefined) continue;
    if (entry.kind === "file") throw new ArchiveRefused("file_as_folder", entry.path);
    throw new ArchiveRefused("link_as_folder", below.path);
  }
}

function sameName(first: StoredEntry, second: StoredEntry): ArchiveRefused {
  const oneIsFolder = (first.kind === "directory") !== (second.kind === "directory");
  return new ArchiveRefused(oneIsFolder ? "file_as_folder" : "duplicate_name", second.path);
}
