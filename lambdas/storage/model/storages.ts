import type { StorageReply } from "../../../api/storage.ts";
import { countedVersion, countUp } from "../../organizations/model/totals.ts";
import { absent } from "../../table/entity.ts";
import { newId, randomText } from "../../table/ids.ts";
import { Storage, type StorageRow } from "./rows.ts";

/** A storage as callers see it. */
export function storageReply({ id, name, status, createdAt, updatedAt }: Omit<StorageRow, "version">): StorageReply {
  return { id, name, status, createdAt, updatedAt };
}

/** A new storage, counted in its organization. */
export function newStorage(organizationId: string, name: string, now: Date) {
  const at = now.toISOString();
  const row: StorageRow = {
    id: newId("sto", now),
    organizationId,
    name,
    status: "active",
    secret: randomText(32),
    version: countedVersion,
    createdAt: at,
    updatedAt: at,
  };
  return {
    row,
    writes: { storage: Storage.put(row, row, { pk: absent }), totals: countUp(organizationId, "storages") },
  };
}
