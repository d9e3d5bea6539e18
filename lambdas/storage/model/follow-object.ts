import type { StoredFiles } from "../../aws/files.ts";
import { unavailable } from "../../http/problem.ts";
import type { RowUpdater } from "../../table/updater.ts";
import { type FileOwner, followed, objectKey } from "./files.ts";
import { File, type FileRow } from "./rows.ts";

const triesMax = 8;

interface Following {
  owner: FileOwner;
  /** The entry as just read. */
  row: FileRow | undefined;
  /** Writes even what the entry already says, so that a deletion that has looked before must look again. */
  always: boolean;
  now: Date;
}

/**
 * Makes the entry say what S3 holds now, and gives the entry; `undefined` when there is none (any more). S3 is looked
 * at after the row was read and the row only written if it is still that one, so entries never go back in time,
 * in whatever order events arrive. Of an event only its key counts.
 */
export async function followObject(
  { owner, row: first, always, now }: Following,
  { entries, files }: { entries: RowUpdater; files: StoredFiles },
): Promise<FileRow | undefined> {
  const id = { storageId: owner.storageId, id: owner.fileId };
  let row = first;
  for (let tries = 0; tries < triesMax; tries += 1) {
    if (!row) return undefined;
    const next = followed(row, await files.find(objectKey(owner)), now);
    if (next === row && !always) return row;
    const { size, status, object, updatedAt } = next;
    const set = { size, status, object, updatedAt, revision: row.revision + 1 };
    const change = { set, remove: object ? [] : ["object"] };
    const outcome = await entries.update(File.update(id, change, { revision: row.revision }));
    if (outcome.ok) return outcome.row;
    row = outcome.old;
  }
  throw unavailable(new Error("The file kept changing"));
}
