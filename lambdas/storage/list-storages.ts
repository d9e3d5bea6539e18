import { listStorages } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { idInKey } from "./model/keys.ts";
import { Storage } from "./model/rows.ts";
import { storageReply } from "./model/storages.ts";

/** More than any organization has; the list has no pages (docs/api.md, Storage). */
const storagesMax = 1_000;

export const handler = endpoint(listStorages, async ({ params, access }, { table }) => {
  const organizationId = idInKey("org", params.orgId);
  const [, page] = await Promise.all([
    access.read(),
    table.list(Storage.list({ organizationId }, { limit: storagesMax })),
  ]);
  return { storages: page.rows.map(storageReply) };
});
