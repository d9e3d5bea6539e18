import { type IdPrefix, isId } from "../../../api/ids.ts";
import type { Key } from "../../table/entity.ts";
import { File, Storage } from "./rows.ts";

/** A path's id as it stands in a key; what is no such id becomes one that no row has, whatever its length. */
export function idInKey(prefix: IdPrefix, text: string): string {
  return isId(prefix, text) ? text : "none";
}

export function storageKey(params: { orgId: string; storageId: string }): Key {
  return Storage.key({ organizationId: idInKey("org", params.orgId), id: idInKey("sto", params.storageId) });
}

export function fileKey(params: { storageId: string; fileId: string }): Key {
  return File.key({ storageId: idInKey("sto", params.storageId), id: idInKey("fil", params.fileId) });
}
