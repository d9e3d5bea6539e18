import { getFile } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { fileReply, objectKey } from "./model/files.ts";
import { followObject } from "./model/follow-object.ts";
import { fileAt, storageAt } from "./model/keys.ts";

/** Also reads S3 while the address is signed, because an upload's event can be late or lost. */
export const handler = endpoint(
  getFile,
  async ({ params, access, now }, tools) => {
    const { storage, row } = await access.read({ storage: storageAt(params), row: fileAt(params) });
    if (!storage || !row) throw notFound();
    const owner = { organizationId: params.orgId, storageId: params.storageId, fileId: row.id };
    const [file, url] = await Promise.all([
      followObject({ owner, row, always: false, now }, tools),
      tools.addresses.open(now).then((signing) => signing.download(objectKey(owner), row.id)),
    ]);
    if (!file) throw notFound();
    return { file: { ...fileReply(file), url } };
  },
  { exists: (params) => ({ storage: storageAt(params), file: fileAt(params) }) },
);
