import { type IdPrefix, isId } from "../../../api/ids.ts";
import { File, Storage } from "./rows.ts";

/** A path's id for a key; a text that is no id becomes one that no row has, whatever its length. */
export function idInKey(prefix: IdPrefix, text: string): string {
  return isId(prefix, text) ? text : "none";
}

/** Where the storage that a path names is. */
export function storageAt(params: { orgId: string; storageId: string }) {
  return Storage.at({ organizationId: idInKey("org", params.orgId), id: idInKey("sto", params.storageId) });
}

/** Where the file that a path names is. */
export function fileAt(params: { storageId: string; fileId: string }) {
  return File.at({ storageId: idInKey("sto", params.storageId), id: idInKey("fil", params.fileId) });
}
