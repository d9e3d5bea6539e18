import { setImmediate } from "node:timers/promises";
import { createFiles } from "../../api/storage.ts";
import type { FileSigning } from "../aws/file-addresses.ts";
import type { Access } from "../http/access.ts";
import { endpoint } from "../http/endpoint.ts";
import { Replay } from "../http/idempotency.ts";
import { notFound, Problem, unavailable } from "../http/problem.ts";
import type { Writes } from "../table/writer.ts";
import { fileReply, newFiles, objectKey } from "./model/files.ts";
import { storageAt } from "./model/keys.ts";
import { File, type FileRow, Storage, type StorageRow } from "./model/rows.ts";

/** TransactWriteItems has room for so many beside the storage's check and the record of the Idempotency-Key. */
const filesAtOnce = 98;

interface NewFiles {
  access: Access;
  storage: StorageRow;
  rows: readonly FileRow[];
  now: Date;
}

/** The storage is checked in the same transaction: a deletion that found it empty blocks new files. */
async function storeAtOnce({ access, storage, rows, now }: NewFiles, remember?: unknown): Promise<void> {
  const writes: Writes = {
    storage: Storage.check(storage, {
      emptyUntil: { is: "absentOrBelow", value: now.toISOString() },
      id: storage.id,
    }),
    ...Object.fromEntries(rows.map((row) => [row.id, File.put(row, row)])),
  };
  const outcome = await access.commit<Writes>(writes, remember, { files: rows });
  if (outcome.ok) return;
  throw outcome.failed.storage?.old ? unavailable(new Error("The storage is being deleted")) : notFound();
}

/**
 * More files than fit take a second transaction, which also stores the answer for the Idempotency-Key; ONE event names all
 * of them. If the second transaction is refused, as when another request with the same key was first, no file stays.
 */
async function store(files: NewFiles, remember: unknown): Promise<void> {
  const { access, rows } = files;
  if (rows.length <= filesAtOnce) return storeAtOnce(files, remember);
  const both = async () => {
    try {
      await storeAtOnce({ ...files, rows: rows.slice(0, filesAtOnce) });
      await storeAtOnce({ ...files, rows: rows.slice(filesAtOnce) }, remember);
    } catch (error) {
      const isRefused = error instanceof Replay || error instanceof Problem;
      if (isRefused) await access.undo(Object.fromEntries(rows.map((row) => [row.id, File.delete(row)])));
      throw error;
    }
  };
  await access.around(both, { fileIds: rows.map(({ id }) => id) });
}

type Prepared = ReturnType<typeof fileReply>;

/** The number of addresses that are signed before other work, such as the table's request, can run. */
const signedAtOnce = 10;

async function signed(organizationId: string, storageId: string, files: readonly Prepared[], signing: FileSigning) {
  const { expiresAt } = signing;
  const replies = [];
  for (const [index, file] of files.entries()) {
    if (index % signedAtOnce === 0 && index > 0) await setImmediate();
    const { id, name, path, mime, size, status, error, createdAt, updatedAt } = file;
    const url = await signing.upload(objectKey({ organizationId, storageId, fileId: id }), mime);
    replies.push({ id, name, path, mime, size, status, error, createdAt, updatedAt, url, expiresAt });
  }
  return replies;
}

/**
 * The role is assumed during the first read, and the first address is signed before entries are written, so that a failure to
 * sign leaves no entries. The other addresses are signed with the same session while the table writes.
 */
export const handler = endpoint(
  createFiles,
  async ({ params, body, access, now }, { addresses }) => {
    const opening = addresses.open(now);
    opening.catch(() => undefined);
    const { storage } = await access.read({ storage: storageAt(params) });
    if (!storage) throw notFound();
    const signing = await opening;
    const entries = newFiles(params.storageId, body.files, now);
    const replies = entries.map(fileReply);
    const [first, ...others] = replies;
    const sign = (files: readonly Prepared[]) => signed(params.orgId, params.storageId, files, signing);
    const signedFirst = await sign(first ? [first] : []);
    const storing = store({ access, storage, rows: entries, now }, { files: replies });
    const [signedOthers] = await Promise.all([setImmediate().then(() => sign(others)), storing]);
    return { files: [...signedFirst, ...signedOthers] };
  },
  {
    exists: (params) => ({ storage: storageAt(params) }),
    replay: async ({ files }, { params, now }, { addresses }) => ({
      files: await signed(params.orgId, params.storageId, files, await addresses.open(now)),
    }),
  },
);
