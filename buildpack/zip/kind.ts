import type { EntryKind } from "./entry.ts";
import { ArchiveRefused } from "./refused.ts";

const unixHost = 3;
const dosVolume = 0x08;
const dosFolder = 0x10;

/**
 * The kind of an entry. The end of the name, the DOS bits and the Unix mode all state it, and different readers use different ones,
 * so they must agree. Links are accepted only from Unix, because Info-ZIP unpacks other ones as files.
 */
export function entryKind(name: string, folder: boolean, madeBy: number, external: number): EntryKind {
  const host = madeBy >>> 8;
  if ((external & dosFolder) !== 0 && !folder) throw new ArchiveRefused("kind_mismatch", name);
  // unzip does not unpack an entry that is marked as a volume label.
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
