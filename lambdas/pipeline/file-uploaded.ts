import * as z from "zod";
import { listener } from "../http/step.ts";
import { objectKey, objectOwner } from "../storage/model/files.ts";
import { followObject } from "../storage/model/follow-object.ts";
import { File } from "../storage/model/rows.ts";

const objectCreated = z.object({ detail: z.object({ object: z.object({ key: z.string() }) }) });

/**
 * Updates a file's entry to what S3 holds. An object without an entry was uploaded to the address of a deleted file and
 * is deleted: ids are never reused, so it cannot belong to a newer file.
 */
export const handler = listener("file-uploaded", objectCreated, async ({ detail }, tools) => {
  const owner = objectOwner(detail.object.key);
  if (!owner) return;
  const { stored } = await tools.table.read({ stored: File.at({ storageId: owner.storageId, id: owner.fileId }) });
  const row = await followObject({ owner, row: stored, always: true, now: new Date() }, tools);
  if (!row) await tools.fileRemover.remove(objectKey(owner));
});
