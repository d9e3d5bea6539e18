import { updateStorage } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { present } from "../table/entity.ts";
import { storageAt } from "./model/keys.ts";
import { Storage } from "./model/rows.ts";
import { storageReply } from "./model/storages.ts";

export const handler = endpoint(
  updateStorage,
  async ({ params, body, access, now }) => {
    const { storage } = await access.read({ storage: storageAt(params) });
    if (!storage) throw notFound();
    const set = { name: body.name, updatedAt: now.toISOString() };
    const outcome = await access.commit({ storage: Storage.update(storage, { set }, { pk: present }) });
    if (!outcome.ok) throw notFound();
    return { storage: storageReply({ ...storage, ...set }) };
  },
  { exists: (params) => ({ storage: storageAt(params) }) },
);
