import { constants, createReadStream, createWriteStream, mkdtempSync, open, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { limits } from "../../api/limits.ts";
import { Failure } from "../failure.ts";
import type { Selected, Selection } from "./select-files.ts";

/** The archive limits that the service holds to beside the zipped size (docs/api.md, Archives). */
const entriesMax = 200_000;
const unpackedBytesMax = 2 * 1024 ** 3;

/** An archive in a temporary file, which is gone when it is disposed of, and when the process exits. */
export interface PackedArchive extends Disposable {
  path: string;
  size: number;
  fileCount: number;
}

/** Zips what was selected, in its order; refuses with a sentence what the service would refuse for its size. */
export async function packFolder(selection: Selection, signal?: AbortSignal): Promise<PackedArchive> {
  const fileCount = selection.entries.filter(({ kind }) => kind !== "empty-folder").length;
  checkSize(selection, fileCount);
  const temporary = mkdtempSync(join(tmpdir(), "slipway-"));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  process.on("exit", remove);
  const dispose = () => {
    remove();
    process.off("exit", remove);
  };
  try {
    const path = join(temporary, "app.zip");
    await writeZip(selection, path, signal);
    const { size } = await stat(path);
    if (size > limits.archiveBytesMax) {
      throw new Failure(`The archive has ${mib(size)}; at most ${mib(limits.archiveBytesMax)} are allowed. ${advice}`);
    }
    return { path, size, fileCount, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

const mib = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
const advice = "Name what the app does not need in .gitignore or .dockerignore.";

function checkSize({ folder, entries }: Selection, fileCount: number): void {
  if (fileCount === 0) {
    throw new Failure(`${folder} holds no file to deploy: it is empty, or everything in it is left out.`);
  }
  if (entries.length > entriesMax) {
    throw new Failure(`${folder} holds ${entries.length} files; at most ${entriesMax} are allowed. ${advice}`);
  }
  const unpacked = entries.reduce((total, entry) => total + (entry.kind === "file" ? entry.size : 0), 0);
  if (unpacked > unpackedBytesMax) {
    throw new Failure(`${folder} holds ${mib(unpacked)}; at most ${mib(unpackedBytesMax)} are allowed. ${advice}`);
  }
}

async function writeZip({ folder, entries }: Selection, path: string, signal: AbortSignal | undefined): Promise<void> {
  const zip = new ZipFile();
  const failed = new AbortController();
  zip.on("error", (error) => failed.abort(error));
  for (const entry of entries) addEntry(zip, folder, entry);
  zip.end();
  const stops = signal === undefined ? failed.signal : AbortSignal.any([failed.signal, signal]);
  try {
    await pipeline(zip.outputStream, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal: stops });
  } catch (error) {
    signal?.throwIfAborted();
    const cause = failed.signal.aborted ? failed.signal.reason : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(`The folder could not be packed: ${reason}. If it changes while it is read, try again.`, {
      cause,
    });
  }
}

function addEntry(zip: ZipFile, folder: string, entry: Selected): void {
  const mtime = entry.changedAt;
  if (entry.kind === "empty-folder") {
    zip.addEmptyDirectory(entry.path, { mtime, mode: 0o040755 });
  } else if (entry.kind === "link") {
    zip.addBuffer(Buffer.from(entry.target), entry.path, { mtime, mode: 0o120777, compress: false });
  } else {
    const mode = entry.executable ? 0o100755 : 0o100644;
    zip.addReadStreamLazy(entry.path, { mtime, mode, size: entry.size }, (take) => {
      // A link that took the file's place meanwhile is not followed.
      open(join(folder, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW, (problem, fd) => {
        const stream = createReadStream("", problem === null ? { fd } : {});
        stream.on("error", (error) => zip.emit("error", error));
        take(problem, stream);
      });
    });
  }
}
