import { listStorages } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { idInKey } from "./model/keys.ts";
import { Storage } from "./model/rows.ts";

/** More than an organization ever has: the list has no pages (SPEC §4). */
const storagesMax = 1_000;

export const handler = endpoint(listStorages, async ({ params, access }, { table }) => {
  const pk = `ORG#${idInKey("org", params.orgId)}`;
  const [, page] = await Promise.all([access.read(), table.query({ pk, prefix: "STO#", limit: storagesMax })]);
  return {
    storages: page.items.map((item) => {
      const { id, name, status, createdAt, updatedAt } = Storage.read(item);
      return { id, name, status, createdAt, updatedAt };
    }),
  };
});
