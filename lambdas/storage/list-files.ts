import { isId } from "../../api/ids.ts";
import { listFiles } from "../../api/storage.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid, notFound } from "../http/problem.ts";
import { fileReply } from "./model/files.ts";
import { idInKey, storageKey } from "./model/keys.ts";
import { File, Storage } from "./model/rows.ts";

export const handler = endpoint(
  listFiles,
  async ({ params, query, access }, { table }) => {
    const list = `files:${params.storageId}`;
    const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
    const readable = position === undefined || isId("fil", position);
    const [{ rows }, page] = await Promise.all([
      access.read(storageKey(params)),
      table.query({
        pk: `STO#${idInKey("sto", params.storageId)}`,
        prefix: "FIL#",
        limit: query.limit,
        newestFirst: true,
        ...(position !== undefined && readable && { after: `FIL#${position}` }),
      }),
    ]);
    const storage = Storage.maybe(rows[0]);
    if (!storage) throw notFound();
    if (query.cursor !== undefined && !(readable && isGenuine(storage.secret, list, query.cursor))) {
      throw invalid([{ path: "cursor", message: "must be a cursor that this list gave out" }]);
    }
    const files = page.items.map((item) => fileReply(File.read(item)));
    const last = files.at(-1);
    return { files, nextCursor: page.more && last ? sealCursor(storage.secret, list, last.id) : null };
  },
  { exists: (params) => [storageKey(params)] },
);
