import * as z from "zod";
import { listener } from "../http/step.ts";
import { objectKey, objectOwner } from "../storage/model/files.ts";
import { followObject } from "../storage/model/follow-object.ts";
import { File } from "../storage/model/rows.ts";

const objectCreated = z.object({ detail: z.object({ object: z.object({ key: z.string() }) }) });

/**
 * Brings a file's entry up to what S3 holds. An object without an entry came through the address of a deleted file,
 * and goes: ids are never used twice, so nothing newer can be hit.
 */
export const handler = listener("file-uploaded", objectCreated, async ({ detail }, { table, entries, files }) => {
  const owner = objectOwner(detail.object.key);
  if (!owner) return;
  const { stored } = await table.read({ stored: File.at({ storageId: owner.storageId, id: owner.fileId }) });
  const row = await followObject({ owner, row: stored, always: true, now: new Date() }, { entries, files });
  if (!row) await files.remove(objectKey(owner));
});
