import { deleteFile } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { retryConflicts } from "../http/retry.ts";
import { objectKey } from "./model/files.ts";
import { fileAt, storageAt } from "./model/keys.ts";
import { File } from "./model/rows.ts";

/**
 * Deletes the object first, and then the entry, unless something was uploaded in between. A deletion that stops half-way
 * leaves an entry that can be deleted again, and never an object without an entry. The event of a later upload finds no
 * entry and deletes the object.
 */
export const handler = endpoint(
  deleteFile,
  async ({ params, access }, { fileRemover }) => {
    const { orgId: organizationId, storageId, fileId } = params;
    return retryConflicts("The file", async () => {
      const { storage, file } = await access.read({ storage: storageAt(params), file: fileAt(params) });
      if (!storage || !file) throw notFound();
      await fileRemover.remove(objectKey({ organizationId, storageId, fileId }));
      const outcome = await access.commit({
        file: File.delete({ storageId, id: fileId }, { revision: file.revision }),
      });
      if (outcome.ok) return { file: file.id };
      return undefined;
    });
  },
  { exists: (params) => ({ storage: storageAt(params), file: fileAt(params) }) },
);
