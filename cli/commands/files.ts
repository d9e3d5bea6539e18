import { createWriteStream } from "node:fs";
import { rename, stat, unlink } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { download } from "../../sdk/download.ts";
import { uploadArchive } from "../../sdk/upload-archive.ts";
import { command, organizationOptions } from "../command.ts";
import { type OrganizationTarget, openOrganization } from "../configuration.ts";
import { Failure } from "../failure.ts";
import { mimeOf } from "../mime.ts";
import { barText, bytesText, columnsText, printable } from "../terminal.ts";

const options = {
  storage: { type: "string", value: "id", describe: "the storage (default: the organization's only one)" },
  ...organizationOptions,
} as const;

async function storageOf({ client, orgId }: OrganizationTarget, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { storages } = await client.listStorages({ orgId });
  const [first, ...others] = storages;
  if (first !== undefined && others.length === 0) return first.id;
  const known = storages.map(({ id, name }) => `${id} (${printable(name)})`).join(", ");
  throw new Failure(`Name the storage with --storage <id>${known && `: ${known}`}.`);
}

/** `slipway files list`: every file, or the newest ones. */
export const filesList = command({
  options,
  run: async (args, context) => {
    const target = await openOrganization(args, context);
    const ids = { orgId: target.orgId, storageId: await storageOf(target, args.text("storage")) };
    let cursor: string | undefined;
    do {
      const page = await target.client.listFiles({ ...ids, limit: 200, cursor });
      if (args.flag("json")) for (const file of page.files) context.terminal.result(JSON.stringify(file));
      const rows = page.files.map(({ id, status, size, mime, name }) => [
        id,
        status,
        bytesText(size),
        mime,
        printable(name),
      ]);
      if (!args.flag("json")) for (const line of columnsText(rows)) context.terminal.result(line);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return 0;
  },
});

/** `slipway files upload <path>`: streams a file into the storage. */
export const filesUpload = command({
  operands: { shown: "<path>", min: 1, max: 1 },
  options: {
    name: { type: "string", value: "name", describe: "the file's name in the storage (default: its own)" },
    mime: { type: "string", value: "type", describe: "the file's media type (default: by its ending)" },
    ...options,
  },
  run: async (args, context) => {
    const { terminal, workingFolder, signal } = context;
    const [given = ""] = args.operands;
    const path = resolve(workingFolder, given);
    const { size } = await stat(path);
    const mime = args.text("mime") ?? mimeOf(extname(path));
    const name = args.text("name") ?? basename(path);
    const target = await openOrganization(args, context);
    const ids = { orgId: target.orgId, storageId: await storageOf(target, args.text("storage")) };
    const { files } = await target.client.createFiles({ ...ids, files: [{ name, mime }] });
    const [file] = files;
    if (file === undefined) throw new Failure("The service prepared no file.");
    try {
      const onProgress = ({ sentBytes, totalBytes }: { sentBytes: number; totalBytes: number }) =>
        terminal.progress(`Uploading ${barText(sentBytes, totalBytes)} of ${bytesText(totalBytes)}`);
      await uploadArchive(file.url, path, { contentType: mime, signal, onProgress });
    } catch (error) {
      await target.client.deleteFile({ ...ids, fileId: file.id }).catch(() => undefined);
      throw error;
    }
    terminal.note(`Uploaded ${printable(name)}, ${bytesText(size)}.`);
    terminal.result(args.flag("json") ? JSON.stringify({ id: file.id, name, mime, size }) : file.id);
    return 0;
  },
});

/** `slipway files download <file-id> [path]`: an existing file is replaced only after the download is complete. */
export const filesDownload = command({
  operands: { shown: "<file-id> [path]", min: 1, max: 2 },
  options,
  run: async (args, context) => {
    const { terminal, workingFolder, signal } = context;
    const [fileId = "", path] = args.operands;
    const target = await openOrganization(args, context);
    const ids = { orgId: target.orgId, storageId: await storageOf(target, args.text("storage")), fileId };
    const { file } = await target.client.getFile(ids);
    const { stream } = await download(file.url, signal);
    if (path === undefined || path === "-") {
      await pipeline(Readable.from(stream), process.stdout, { end: false, signal });
      return 0;
    }
    const place = resolve(workingFolder, path);
    const partial = `${place}.${process.pid}.part`;
    try {
      await pipeline(Readable.from(stream), createWriteStream(partial, { flags: "wx" }), { signal });
      await rename(partial, place);
    } catch (error) {
      await unlink(partial).catch(() => undefined);
      throw error;
    }
    terminal.note(`Wrote ${path}, ${bytesText(file.size)}.`);
    return 0;
  },
});

/** `slipway files delete <file-id>`. */
export const filesDelete = command({
  operands: { shown: "<file-id>", min: 1, max: 1 },
  options,
  run: async (args, context) => {
    const [fileId = ""] = args.operands;
    const target = await openOrganization(args, context);
    const ids = { orgId: target.orgId, storageId: await storageOf(target, args.text("storage")), fileId };
    const reply = await target.client.deleteFile(ids);
    if (args.flag("json")) context.terminal.result(JSON.stringify(reply));
    else context.terminal.note(`Deleted file ${reply.file}.`);
    return 0;
  },
});
