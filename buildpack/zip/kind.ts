import type { EntryKind } from "./entry.ts";
import { ArchiveRefused } from "./refused.ts";

const unixHost = 3;
const dosVolume = 0x08;
const dosFolder = 0x10;

/**
 * What an entry is. The name's end, the DOS bits and the Unix mode each claim to know, and readers differ in which they believe, so
 * they must agree. A link is one only when written on Unix: elsewhere Info-ZIP would make a file of it.
 */
export function entryKind(name: string, folder: boolean, madeBy: number, external: number): EntryKind {
  const host = madeBy >>> 8;
  if ((external & dosFolder) !== 0 && !folder) throw new ArchiveRefused("kind_mismatch", name);
  // unzip leaves out what is marked as the label of a volume.
  if ((external & dosVolume) !== 0 && host !== unixHost) throw new ArchiveRefused("special_file", name);
  switch ((external >>> 16) & 0o170000) {
    case 0:
      return folder ? "directory" : "file";
    case 0o040000:
      if (folder) return "directory";
      throw new ArchiveRefused("kind_mismatch", name);
    case 0o100000:
      if (!folder) return "file";
      throw new ArchiveRefused("kind_mismatch", name);
    case 0o120000:
      if (!folder && host === unixHost) return "symlink";
      throw new ArchiveRefused("kind_mismatch", name);
    default:
      throw new ArchiveRefused("special_file", name);
  }
}
