import { createStorage } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { limitReached } from "../organizations/model/totals.ts";
import { newStorage, storageReply } from "./model/storages.ts";

export const handler = endpoint(createStorage, async ({ params, body, access, now }) => {
  const { row, writes } = newStorage(params.orgId, body.name, now);
  const reply = { storage: storageReply(row) };
  const outcome = await access.commit(writes, reply);
  if (!outcome.ok) throw limitReached("storages");
  return reply;
});
