import * as z from "zod";
import { fileStatus } from "../../../api/storage.ts";
import { entity } from "../../table/entity.ts";

const at = () => z.iso.datetime({ precision: 3 });

const storageSchema = () =>
  z.object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    status: z.literal("active"),
    secret: z.string(),
    /** 2: counted in its organization's totals. */
    version: z.int().default(1),
    createdAt: at(),
    updatedAt: at(),
    /** Until then no file is made, because a deletion looks whether there is any. */
    emptyUntil: at().optional(),
  });
export type StorageRow = z.infer<ReturnType<typeof storageSchema>>;
/** A storage of an organization, in the organization's partition so that one query lists them; `secret` seals its cursors. */
export const Storage = entity(
  storageSchema,
  (k: { organizationId: string; id: string }) => ({ pk: `ORG#${k.organizationId}`, sk: `STO#${k.id}` }),
  (of: { organizationId: string }) => ({ pk: `ORG#${of.organizationId}`, prefix: "STO#" }),
);

const fileSchema = () =>
  z.object({
    id: z.string(),
    storageId: z.string(),
    name: z.string(),
    mime: z.string(),
    size: z.int(),
    status: fileStatus,
    /** The object that size and status were read from; absent while nothing is stored. */
    object: z.object({ etag: z.string(), modifiedAt: at(), version: z.string() }).optional(),
    /** Optimistic-lock version: a look at S3 is written only if the row has not changed since it was read. */
    revision: z.int(),
    createdAt: at(),
    updatedAt: at(),
  });
export type FileRow = z.infer<ReturnType<typeof fileSchema>>;
export const File = entity(
  fileSchema,
  (k: { storageId: string; id: string }) => ({ pk: `STO#${k.storageId}`, sk: `FIL#${k.id}` }),
  (of: { storageId: string }) => ({ pk: `STO#${of.storageId}`, prefix: "FIL#" }),
);
