import { deleteStorage } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound, Problem, unavailable } from "../http/problem.ts";
import { countDown } from "../organizations/model/totals.ts";
import { checkConfirmed } from "../removals/model/start-removal.ts";
import { storageAt } from "./model/keys.ts";
import { File, Storage } from "./model/rows.ts";

/** How long the mark blocks new files, if the request that set it dies; longer than any request lives. */
const markSeconds = 60;

/**
 * A mark blocks new files while the list is read: files check it in the transaction that makes them. It ends by
 * itself, so that a request that dies leaves a storage that works. Nothing is left to remove behind an empty storage.
 */
export const handler = endpoint(
  deleteStorage,
  async ({ params, query, access, now }, { table }) => {
    const { storage } = await access.read({ storage: storageAt(params) });
    if (!storage) throw notFound();
    checkConfirmed(query.confirm, storage);
    const { id } = storage;
    const emptyUntil = new Date(now.getTime() + markSeconds * 1000).toISOString();
    const when = { name: storage.name, emptyUntil: { is: "absentOrBelow", value: now.toISOString() } } as const;
    const marked = await table.write({ storage: Storage.update(storage, { set: { emptyUntil } }, when) });
    if (!marked.ok) throw marked.failed.storage?.old ? unavailable(new Error("It is being deleted")) : notFound();
    const { rows } = await table.list(File.list({ storageId: id }, { limit: 1 }));
    if (rows.length > 0) {
      await table.write({ storage: Storage.update(storage, { remove: ["emptyUntil"] }, { emptyUntil }) });
      throw new Problem("storage_not_empty", "The storage holds files. Delete them first.");
    }
    const outcome = await access.commit({
      storage: Storage.delete(storage, { emptyUntil }),
      totals: countDown(storage, "storages"),
    });
    if (!outcome.ok) throw unavailable(new Error("The storage was changed while it was deleted"));
    return { storage: id };
  },
  { exists: (params) => ({ storage: storageAt(params) }) },
);
