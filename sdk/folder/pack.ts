import { constants, createReadStream, createWriteStream, mkdtempSync, open, type ReadStream, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { limits } from "../../api/limits.ts";
import { folderRefused } from "./folder-refused.ts";
import type { Selected, Selection } from "./select-files.ts";
import { bytesText, printable } from "./text.ts";

/** The service's archive limits other than the compressed size (docs/api.md, Archives). */
const entriesMax = 200_000;
const unpackedBytesMax = 2 * 1024 ** 3;

/** An archive in a temporary file, which is deleted when the archive is disposed of and when the process exits. */
export interface PackedArchive extends Disposable {
  path: string;
  size: number;
  fileCount: number;
}

export interface PackOptions {
  signal?: AbortSignal | undefined;
  /** Called several times a second with the bytes read so far. */
  onProgress?: ((progress: { readBytes: number; totalBytes: number }) => void) | undefined;
}

const fileCountOf = ({ entries }: Selection) => entries.filter(({ kind }) => kind !== "empty-folder").length;
const sizeOf = (entry: Selected) => (entry.kind === "file" ? entry.size : 0);
const unpackedBytesOf = ({ entries }: Selection) => entries.reduce((total, entry) => total + sizeOf(entry), 0);

/** Zips the selected files in their order. Throws with a message if the service would refuse the archive's size. */
export async function packFolder(selection: Selection, options: PackOptions = {}): Promise<PackedArchive> {
  checkSize(selection);
  const temporary = mkdtempSync(join(tmpdir(), "slipway-"));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  process.on("exit", remove);
  const dispose = () => {
    remove();
    process.off("exit", remove);
  };
  try {
    const path = join(temporary, "app.zip");
    await writeZip(selection, path, options);
    const { size } = await stat(path);
    if (size > limits.archiveBytesMax) {
      throw folderRefused(
        `The archive has ${mib(size)}; at most ${mib(limits.archiveBytesMax)} are allowed. ${largest(selection)} ${advice}`,
      );
    }
    return { path, size, fileCount: fileCountOf(selection), [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}

const mib = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`;
const advice = "List what the app does not need in .gitignore or .dockerignore.";

const listedMax = 5;

/** Names the largest files, for the message about an archive that is too large. */
function largest({ entries }: Selection): string {
  const files = entries.filter((entry) => sizeOf(entry) > 0).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const named = files.slice(0, listedMax).map((entry) => `${printable(entry.path)} (${bytesText(sizeOf(entry))})`);
  return `The largest files: ${named.join(", ")}.`;
}

/** Names the top-level folders with the most files. */
function fullest({ entries }: Selection): string {
  // Node.js 20 has no Map.groupBy.
  const counts = new Map<string, number>();
  for (const { path } of entries) {
    const top = path.includes("/") ? `${path.split("/")[0]}/` : "the folder itself";
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const folders = [...counts].map(([name, count]) => ({ name, count }));
  const named = folders.toSorted((a, b) => b.count - a.count).slice(0, listedMax);
  return `Most are in: ${named.map(({ name, count }) => `${printable(name)} (${count})`).join(", ")}.`;
}

/** Throws, before any file is read, if the service would refuse the archive's size. */
export function checkSize(selection: Selection): void {
  const { folder, entries } = selection;
  if (fileCountOf(selection) === 0) {
    throw folderRefused(
      `${folder} holds no file to deploy: it is empty, or everything in it is left out. Check the path, .gitignore and .dockerignore.`,
    );
  }
  if (entries.length > entriesMax) {
    throw folderRefused(
      `${folder} holds ${entries.length} files; at most ${entriesMax} are allowed. ${fullest(selection)} ${advice}`,
    );
  }
  const unpacked = unpackedBytesOf(selection);
  if (unpacked > unpackedBytesMax) {
    throw folderRefused(
      `${folder} holds ${mib(unpacked)}; at most ${mib(unpackedBytesMax)} are allowed. ${largest(selection)} ${advice}`,
    );
  }
}

const progressMilliseconds = 100;

/** Counts the bytes read from the files, which yazl opens one after the other. */
class ReadBytes {
  #before = 0;
  #current: ReadStream | undefined;

  start(stream: ReadStream): void {
    this.#before = this.total;
    this.#current = stream;
  }

  get total(): number {
    return this.#before + (this.#current?.bytesRead ?? 0);
  }
}

async function writeZip(selection: Selection, path: string, { signal, onProgress }: PackOptions): Promise<void> {
  const zip = new ZipFile();
  const read = new ReadBytes();
  const totalBytes = unpackedBytesOf(selection);
  const ticking = setInterval(() => onProgress?.({ readBytes: read.total, totalBytes }), progressMilliseconds);
  const failed = new AbortController();
  zip.on("error", (error) => failed.abort(error));
  for (const entry of selection.entries) addEntry(zip, selection.folder, entry, read);
  zip.end();
  const stops = signal === undefined ? failed.signal : AbortSignal.any([failed.signal, signal]);
  try {
    await pipeline(zip.outputStream, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal: stops });
  } catch (error) {
    signal?.throwIfAborted();
    const cause = failed.signal.aborted ? failed.signal.reason : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isFull = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
    const advice = isFull
      ? `The disk is full: free some space in ${tmpdir()}, or name another folder in TMPDIR.`
      : "If it changes while it is read, try again.";
    throw folderRefused(`The folder could not be packed: ${reason}. ${advice}`, cause);
  } finally {
    clearInterval(ticking);
  }
}

function addEntry(zip: ZipFile, folder: string, entry: Selected, read: ReadBytes): void {
  const mtime = entry.changedAt;
  if (entry.kind === "empty-folder") {
    zip.addEmptyDirectory(entry.path, { mtime, mode: 0o040755 });
  } else if (entry.kind === "link") {
    zip.addBuffer(Buffer.from(entry.target), entry.path, { mtime, mode: 0o120777, compress: false });
  } else {
    const mode = entry.executable ? 0o100755 : 0o100644;
    zip.addReadStreamLazy(entry.path, { mtime, mode, size: entry.size }, (take) => {
      // If a link has replaced the file in the meantime, it is not followed.
      open(join(folder, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW, (problem, fd) => {
        const stream = createReadStream("", problem === null ? { fd } : {});
        stream.on("error", (error) => zip.emit("error", error));
        read.start(stream);
        take(problem, stream);
      });
    });
  }
}
