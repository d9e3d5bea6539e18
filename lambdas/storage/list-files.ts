import { isId } from "../../api/ids.ts";
import { listFiles } from "../../api/storage.ts";
import { claimedPosition, isGenuine, sealCursor } from "../http/cursor.ts";
import { endpoint } from "../http/endpoint.ts";
import { invalid, notFound } from "../http/problem.ts";
import { fileReply } from "./model/files.ts";
import { idInKey, storageAt } from "./model/keys.ts";
import { File } from "./model/rows.ts";

export const handler = endpoint(
  listFiles,
  async ({ params, query, access }, { table }) => {
    const list = `files:${params.storageId}`;
    const position = query.cursor === undefined ? undefined : claimedPosition(query.cursor);
    const readable = position === undefined || isId("fil", position);
    const after = readable ? position : undefined;
    const [{ storage }, page] = await Promise.all([
      access.read({ storage: storageAt(params) }),
      table.list(
        File.list({ storageId: idInKey("sto", params.storageId) }, { limit: query.limit, newestFirst: true, after }),
      ),
    ]);
    if (!storage) throw notFound();
    if (query.cursor !== undefined && !(readable && isGenuine(storage.secret, list, query.cursor))) {
      throw invalid([{ path: "cursor", message: "must be a cursor that this list returned" }]);
    }
    const files = page.rows.map(fileReply);
    const last = files.at(-1);
    return { files, nextCursor: page.more && last ? sealCursor(storage.secret, list, last.id) : null };
  },
  { exists: (params) => ({ storage: storageAt(params) }) },
);
