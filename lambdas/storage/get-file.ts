import { getFile } from "../../api/storage.ts";
import { endpoint } from "../http/endpoint.ts";
import { notFound } from "../http/problem.ts";
import { fileReply, objectKey } from "./model/files.ts";
import { followObject } from "./model/follow-object.ts";
import { fileKey, storageKey } from "./model/keys.ts";
import { File } from "./model/rows.ts";

/** Looks at S3 too, beside the signing: what an event has not told yet, or never will, does not show. */
export const handler = endpoint(getFile, async ({ params, access, now }, tools) => {
  const { rows } = await access.read(storageKey(params), fileKey(params));
  const row = File.maybe(rows[1]);
  if (!rows[0] || !row) throw notFound();
  const owner = { organizationId: params.orgId, storageId: params.storageId, fileId: row.id };
  const [file, url] = await Promise.all([
    followObject({ owner, row, always: false, now }, tools),
    tools.addresses.open(now).then((signing) => signing.download(objectKey(owner), row.id)),
  ]);
  if (!file) throw notFound();
  return { file: { ...fileReply(file), url } };
});
