import { type IdPrefix, isId } from "../../../api/ids.ts";
import { File, Storage } from "./rows.ts";

/** The id of a path as part of a key. A text that is not an id is replaced by one that no row has, because it may be too long for a key. */
export function idInKey(prefix: IdPrefix, text: string): string {
  return isId(prefix, text) ? text : "none";
}

/** The place of the storage in the path. */
export function storageAt(params: { orgId: string; storageId: string }) {
  return Storage.at({ organizationId: idInKey("org", params.orgId), id: idInKey("sto", params.storageId) });
}

/** The place of the file in the path. */
export function fileAt(params: { storageId: string; fileId: string }) {
  return File.at({ storageId: idInKey("sto", params.storageId), id: idInKey("fil", params.fileId) });
}
