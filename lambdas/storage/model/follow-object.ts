import type { StoredFiles } from "../../aws/files.ts";
import { retryConflicts } from "../../http/retry.ts";
import type { RowUpdater } from "../../table/updater.ts";
import { type FileOwner, followed, objectKey } from "./files.ts";
import { File, type FileRow } from "./rows.ts";

interface Following {
  owner: FileOwner;
  /** The entry as just read. */
  row: FileRow | undefined;
  /** Writes the entry even if nothing changes, so that a deletion that read it before has to read it again. */
  always: boolean;
  now: Date;
}

/**
 * Updates the entry to the current object in S3, and returns it; `undefined` if there is no entry. S3 is read after the row, and
 * the row is written only if it has not changed since, so an entry never goes back to an older state, in any order of
 * events. Only the key of an event is used.
 */
export async function followObject(
  { owner, row: first, always, now }: Following,
  { entries, files }: { entries: RowUpdater; files: StoredFiles },
): Promise<FileRow | undefined> {
  const id = { storageId: owner.storageId, id: owner.fileId };
  let row = first;
  const found = await retryConflicts("The file", async () => {
    if (!row) return null;
    const next = followed(row, await files.find(objectKey(owner)), now);
    if (next === row && !always) return row;
    const { size, status, object, updatedAt } = next;
    const set = { size, status, object, updatedAt, revision: row.revision + 1 };
    const change = { set, remove: object ? [] : ["object"] };
    const outcome = await entries.update(File.update(id, change, { revision: row.revision }));
    if (outcome.ok) return outcome.row;
    row = outcome.old;
    return undefined;
  });
  return found ?? undefined;
}
