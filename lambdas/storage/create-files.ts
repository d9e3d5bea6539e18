import { setImmediate } from "node:timers/promises";
import { createFiles } from "../../api/storage.ts";
import type { FileSigning } from "../aws/file-addresses.ts";
import type { Access } from "../http/access.ts";
import { endpoint } from "../http/endpoint.ts";
import { Replay } from "../http/idempotency.ts";
import { notFound, Problem, unavailable } from "../http/problem.ts";
import { fileReply, newFiles, objectKey } from "./model/files.ts";
import { storageAt } from "./model/keys.ts";
import { File, type FileRow } from "./model/rows.ts";

/** The maximum number of actions of TransactWriteItems. */
const transactionWritesMax = 100;

/** Their ids are new, so the entries are written without a condition. */
async function store(access: Access, rows: readonly FileRow[], remember?: unknown): Promise<void> {
  const writes = Object.fromEntries(rows.map((row) => [row.id, File.put(row, row)]));
  const outcome = await access.commit(writes, remember, { files: rows });
  if (!outcome.ok) throw unavailable(new Error("New files were refused"));
}

/**
 * A request of 100 files leaves no room for its idempotency record in the transaction, so the record is a write of its own.
 * If another request with the same key stored its record first, this one deletes its entries and returns the first answer.
 */
async function storeThenRemember(access: Access, rows: readonly FileRow[], remember: unknown): Promise<void> {
  await store(access, rows);
  try {
    await access.commit({}, remember);
  } catch (error) {
    const isSecond = error instanceof Replay || (error instanceof Problem && error.code === "idempotency_mismatch");
    if (isSecond) await access.undo(Object.fromEntries(rows.map((row) => [row.id, File.delete(row)])));
    throw error;
  }
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
  async ({ params, body, access, headers, now }, { addresses }) => {
    const opening = addresses.open(now);
    opening.catch(() => undefined);
    const { storage } = await access.read({ storage: storageAt(params) });
    if (!storage) throw notFound();
    const signing = await opening;
    const entries = newFiles(params.storageId, body.files, now);
    const replies = entries.map(fileReply);
    const isFull = entries.length === transactionWritesMax && headers["idempotency-key"] !== undefined;
    const [first, ...others] = replies;
    const sign = (files: readonly Prepared[]) => signed(params.orgId, params.storageId, files, signing);
    const signedFirst = await sign(first ? [first] : []);
    const storing = (isFull ? storeThenRemember : store)(access, entries, { files: replies });
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
